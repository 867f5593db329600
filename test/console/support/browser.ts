import chromium from '@sparticuz/chromium';
import { type Browser, chromium as playwright } from 'playwright-core';

/** Starts the browser at CHROME_PATH, by default the browser that `npm ci` installs. */
export async function openBrowser(): Promise<Browser> {
  const own = process.env['CHROME_PATH'];
  if (own) return playwright.launch({ executablePath: own, args: ['--no-sandbox'] });
  // WebGL in software takes most of the browser's CPU time, and no page needs it.
  chromium.setGraphicsMode = false;
  const executablePath = await chromium.executablePath();
  // The option `--single-process` is for Lambda. With that option, one crashed page would end all others.
  const args = chromium.args.filter((arg) => arg !== '--single-process' && arg !== '--no-zygote');
  return playwright.launch({ args, executablePath, headless: true });
}
