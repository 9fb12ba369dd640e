import { afterEach, expect, it, vi } from 'vitest';
import { handler } from '../../../functions/install/handler.ts';

/** The bundler lays the manifests beside the code. */
vi.mock(import('node:fs'), async (original) => ({
  ...(await original()),
  readFileSync: vi.fn().mockReturnValue('[]'),
}));

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

it('logs objects, which Lambda writes as JSON, and not JSON inside of JSON', async () => {
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  vi.stubEnv('JOINER_EVENT_BUS', 'joiner-demo');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  vi.stubGlobal('fetch', async () => new Response());
  const said = vi.spyOn(console, 'info').mockImplementation(() => {});
  const event = {
    RequestType: 'Create',
    ResponseURL: 'https://answers.example.com/answer',
    LogicalResourceId: 'Apply',
    ResourceProperties: { Step: 'dance', Cluster: 'demo' },
  };
  await handler(event, { getRemainingTimeInMillis: () => 60_000 });
  const line = { message: 'answer', resource: 'Apply', status: 'FAILED' };
  expect(said.mock.calls).toEqual([[expect.objectContaining(line)]]);
});
