import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Calls } from '../../../shared/aws/calls.ts';
import { eventBridgeClient, putEvents } from '../../../shared/aws/events.ts';
import { close, listen } from '../../support/loopback.ts';

/** How many entries each call refuses: the last ones. */
let refusing: number[] = [];
let asked: number[] = [];

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { Entries: entries } = JSON.parse(Buffer.concat(chunks).toString());
  asked.push(entries.length);
  const taken = entries.length - (refusing.shift() ?? 0);
  const Entries = entries.map((_: unknown, at: number) =>
    at < taken ? { EventId: `${at}` } : { ErrorCode: 'ThrottlingException', ErrorMessage: 'later' },
  );
  response.setHeader('content-type', 'application/x-amz-json-1.1');
  response.end(JSON.stringify({ FailedEntryCount: entries.length - taken, Entries }));
});
let endpoint = '';
beforeAll(async () => {
  endpoint = await listen(server);
});
afterAll(() => close(server));

/** Puts four events, of which calls refuse so many. */
async function putFour(...refused: number[]) {
  refusing = refused;
  asked = [];
  const waits: number[] = [];
  const calls = new Calls({ nowMs: () => 0, sleep: async (ms) => void waits.push(ms) });
  const credentials = { accessKeyId: 'A', secretAccessKey: 'B' };
  const access = { region: 'eu-west-1', functionName: 'test', endpoint, credentials };
  const eventBridge = eventBridgeClient(access);
  const entry = { EventBusName: 'b', Source: 's', DetailType: 't', Detail: '{}' };
  const fault = await putEvents({ eventBridge, calls }, Array(4).fill(entry)).catch(String);
  return { asked, waits, fault };
}

describe('events that EventBridge refuses one by one', () => {
  it('are put once where it takes all', async () => {
    expect(await putFour()).toEqual({ asked: [4], waits: [], fault: undefined });
  });

  it('are put again alone, a moment later: it throttles', async () => {
    expect(await putFour(3)).toEqual({ asked: [4, 3], waits: [500], fault: undefined });
  });

  it('are a fault the second time', async () => {
    const fault = 'PortError: events:PutEvents: later';
    expect(await putFour(3, 1)).toEqual({ asked: [4, 3], waits: [500], fault });
  });
});
