import chromium from '@sparticuz/chromium';
import { type Browser, chromium as playwright } from 'playwright-core';

/** A real browser that comes with `npm ci`; CHROME_PATH names another one. */
export async function openBrowser(): Promise<Browser> {
  const own = process.env['CHROME_PATH'];
  if (own) return playwright.launch({ executablePath: own, args: ['--no-sandbox'] });
  const executablePath = await chromium.executablePath();
  // Its `--single-process` is for Lambda: one page that fails would end all others.
  const args = chromium.args.filter((arg) => arg !== '--single-process' && arg !== '--no-zygote');
  return playwright.launch({ args, executablePath, headless: true });
}
