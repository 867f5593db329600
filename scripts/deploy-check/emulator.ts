/**
 * Calls of CloudFormation and S3 without an SDK client. Their signatures are invalid, and only emulators accept them.
 */
export interface Emulator {
  /** Calls CloudFormation. @returns the answer in XML */
  cloudFormation(fields: Readonly<Record<string, string>>): Promise<string>;
  createBucket(bucket: string): Promise<void>;
  put(bucket: string, key: string, content: Uint8Array): Promise<void>;
  get(bucket: string, key: string): Promise<Buffer>;
  /** The URL of an object, from which CloudFormation reads a template. */
  urlOf(bucket: string, key: string): string;
}

export function createEmulator(endpoint: string, region: string): Emulator {
  // With the host name "localhost", emulators can separate the bucket name from the host.
  const s3 = new URL(endpoint);
  s3.hostname = 'localhost';
  const urlOf = (bucket: string, key: string) => `${s3.origin}/${bucket}/${key}`;
  const call = async (service: string, url: string, init: RequestInit): Promise<Buffer> => {
    const scope = `testing/20260101/${region}/${service}/aws4_request`;
    const authorization = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=none`;
    const answer = await fetch(url, { ...init, headers: { ...init.headers, authorization } });
    const body = Buffer.from(await answer.arrayBuffer());
    if (!answer.ok) throw new Error(`${init.method} ${url}: ${answer.status} ${body}`);
    return body;
  };
  return {
    urlOf,
    async cloudFormation(fields) {
      const body = new URLSearchParams({ ...fields, Version: '2010-05-15' }).toString();
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const answer = await call('cloudformation', endpoint, { method: 'POST', headers, body });
      return answer.toString('utf8');
    },
    async createBucket(bucket) {
      const body = `<CreateBucketConfiguration><LocationConstraint>${region}</LocationConstraint></CreateBucketConfiguration>`;
      await call('s3', `${s3.origin}/${bucket}`, { method: 'PUT', body });
    },
    async put(bucket, key, content) {
      await call('s3', urlOf(bucket, key), { method: 'PUT', body: Buffer.from(content) });
    },
    get: (bucket, key) => call('s3', urlOf(bucket, key), { method: 'GET' }),
  };
}

/** Returns the values of all elements with this name that contain no other element. */
export const valuesOf = (xml: string, name: string): readonly string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, text = '']) => text);
