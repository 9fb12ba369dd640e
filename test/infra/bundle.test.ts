import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Bundle, bundleFunction, manifests } from '../../infra/bundle.ts';
import { ENV, FUNCTION_NAMES } from '../../shared/contract.ts';
import { close, listen } from '../support/loopback.ts';

const VARIABLES = {
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'a-secret-of-the-test',
  JOINER_DNS_SUFFIX: 'amazonaws.com',
  JOINER_EVENT_BUS: 'joiner-demo',
  JOINER_VERSION: '0.0.0',
};

/** Without these a handler does not load. */
const IN_STACK = {
  ...VARIABLES,
  [ENV.cluster]: 'demo',
  [ENV.function]: 'provision',
  [ENV.account]: '111122223333',
  [ENV.bucket]: 'joiner-demo',
};

/** EKS, an API server that refuses everything, and the address that waits for the answer. */
async function startServer() {
  const heard: string[] = [];
  let answer: unknown;
  let url = '';
  const server = createServer((request, response) => {
    heard.push(`${request.method} ${request.url?.split('?')[0]}`);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.url === '/answer') answer = JSON.parse(Buffer.concat(chunks).toString('utf8'));
      const isCluster = request.url?.startsWith('/clusters/') === true;
      const isAnswer = request.url === '/answer';
      response.writeHead(isCluster || isAnswer ? 200 : 422, { 'content-type': 'application/json' });
      const cluster = {
        status: 'ACTIVE',
        endpoint: url,
        accessConfig: { authenticationMode: 'API' },
        resourcesVpcConfig: { endpointPublicAccess: true },
      };
      response.end(JSON.stringify(isCluster ? { cluster } : { message: 'the storage is sealed' }));
    });
  });
  url = await listen(server);
  return {
    url,
    heard,
    answer: () => answer,
    close: () => close(server),
  };
}

/** What is read at a cold start, in bytes: 910 KiB. */
const BYTES_MAX = 910 * 1024;

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'joiner-bundle-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each(FUNCTION_NAMES)('the bundle of %s', (name) => {
  it('is small, loads by itself and has its handler', async () => {
    const bundle = await bundleFunction(name, folder);
    expect(bundle.bytes).toBeLessThanOrEqual(BYTES_MAX);
    for (const [variable, value] of Object.entries(IN_STACK)) vi.stubEnv(variable, value);
    try {
      const loaded: unknown = await import(pathToFileURL(join(bundle.folder, 'index.mjs')).href);
      expect(loaded).toHaveProperty('handler', expect.any(Function));
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

describe('the bundle of install', () => {
  let bundle: Bundle;
  beforeAll(async () => {
    bundle = await bundleFunction('install', folder);
  });

  it('speaks to AWS, to the cluster and to CloudFormation', async () => {
    const server = await startServer();
    vi.stubEnv('AWS_ENDPOINT_URL', server.url);
    for (const [name, value] of Object.entries(VARIABLES)) vi.stubEnv(name, value);
    try {
      const { handler } = await import(pathToFileURL(join(bundle.folder, 'index.mjs')).href);
      const event = {
        RequestType: 'Create',
        ResponseURL: `${server.url}/answer`,
        ResourceProperties: { Step: 'apply', Cluster: 'demo' },
      };
      await handler(event, { getRemainingTimeInMillis: () => 60_000 });
    } finally {
      vi.unstubAllEnvs();
      await server.close();
    }
    const [described, ...rest] = server.heard;
    expect(described).toBe('GET /clusters/demo');
    expect(rest[0]).toBe('POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews');
    expect(rest.at(-1)).toBe('PUT /answer');
    expect(server.answer()).toMatchObject({
      Status: 'FAILED',
      Reason: expect.stringContaining('the storage is sealed'),
    });
  });

  it('holds what is applied', async () => {
    const text = await readFile(join(bundle.folder, 'manifests.json'), 'utf8');
    expect(JSON.parse(text)).toEqual(manifests());
  });
});
