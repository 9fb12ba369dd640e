import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CheckedAccount } from '../../support/aws/checked-account.ts';
import type { ModelMessage } from '../../support/aws/model/queues.ts';
import { WireFault } from '../../support/aws/wire/response.ts';
import { joiner } from '../run.ts';
import { ACCOUNT, INSTANCE, notice } from './letters.ts';

const MINUTE_MS = 60_000;
const QUEUE = 'joiner-demo-interruption';
const DEAD = `${QUEUE}-dead`;
const SPOT = '11111111-0000-4000-8000-000000000000';
const SCHEDULED = '22222222-0000-4000-8000-000000000000';
const BROKEN = '33333333-0000-4000-8000-000000000000';

let aws = new CheckedAccount();
let source: ModelMessage[] = [];
let dead: ModelMessage[] = [];
let nowMs = 0;

function dies(id: string, body: string, minutes: number): void {
  const queuedAtMs = nowMs - minutes * MINUTE_MS;
  const movedFrom = `arn:aws:sqs:us-east-1:${ACCOUNT}:${QUEUE}`;
  dead.push({ id, body, receipt: undefined, queuedAtMs, received: 5, movedFrom });
}

beforeEach(async () => {
  aws = new CheckedAccount();
  [source, dead] = [[], []];
  aws.queues.set(QUEUE, source);
  aws.queues.set(DEAD, dead);
  vi.stubEnv('AWS_ENDPOINT_URL', await aws.start());
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'a-secret-of-the-test');
  vi.stubEnv('AWS_REGION', 'us-east-1');
  nowMs = Math.floor(Date.now() / 1000) * 1000;
  dies(BROKEN, 'not JSON', 15);
  dies(SPOT, notice('spot', nowMs - 40 * MINUTE_MS), 40);
  dies(SCHEDULED, notice('health', nowMs - 30 * MINUTE_MS), 30);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await aws.stop();
});

const letters = (...args: readonly string[]) =>
  joiner('dead-letters', '--cluster', 'demo', ...args);

const time = (minutes: number, fromMs = nowMs): string =>
  new Date(fromMs - minutes * MINUTE_MS).toISOString().replace('.000Z', 'Z');

const calls = (): readonly string[] => aws.wire.calls.map(({ operation }) => operation);
const ids = (queue: readonly ModelMessage[]): readonly string[] => queue.map(({ id }) => id);

/** What nobody else can be handed now. */
const hidden = (): readonly string[] =>
  ids(dead.filter(({ hiddenUntilMs = 0 }) => Date.now() < hiddenUntilMs));

describe('joiner dead-letters', () => {
  it('lists what interrupt has failed on, why, and what can be done, and takes nothing out', async () => {
    const { exitCode, stdout, stderr } = await letters();
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    // The golden text is of a fixed day, with the same distances.
    const fixed = [40, 30, 15].reduce(
      (text, minutes) => text.replaceAll(time(minutes), time(minutes, Date.UTC(2026, 0, 2))),
      stdout,
    );
    await expect(fixed).toMatchFileSnapshot('./list.txt');
    expect([ids(dead), hidden()]).toEqual([[BROKEN, SPOT, SCHEDULED], []]);
    expect(new Set(calls())).toEqual(
      new Set([
        ...['GetQueueUrl', 'GetQueueAttributes', 'ReceiveMessage'],
        'ChangeMessageVisibilityBatch',
      ]),
    );
  });

  it('says the same to programs, with the bodies', async () => {
    const { stdout } = await letters('-o', 'json');
    const { messages, ...rest } = JSON.parse(stdout);
    expect(rest).toMatchObject({ cluster: 'demo', queue: DEAD, isAll: true, hidden: 0 });
    expect(messages[0]).toEqual({
      id: SPOT,
      kind: 'spot_interrupted',
      instances: [INSTANCE],
      sent: time(40),
      queued: time(40),
      received: 6,
      movedFrom: QUEUE,
      redriven: 'handled',
      why: expect.stringContaining('failed to handle it 5 times'),
      advice: expect.stringContaining('two minutes'),
      body: dead[1]?.body,
    });
    expect(messages[2]).toMatchObject({ kind: 'malformed', sent: null, redriven: 'refused' });
  });

  it('sees each of many once, and says where there may be more', async () => {
    for (let at = 0; at < 25; at += 1) dies(`m${at}`, notice('rebalance', nowMs), 1);
    const all = JSON.parse((await letters('-o', 'json')).stdout);
    expect([all.messages.length, all.isAll]).toEqual([28, true]);
    const { stdout } = await letters('--limit', '12');
    expect(stdout).toMatch(/^12 messages in /);
    expect(stdout).toContain('there may be more than these 12: --limit looks further\n');
  });

  it('says that the queue is empty, or that others have its messages', async () => {
    Object.assign(dead[0] ?? {}, { receipt: 'theirs', hiddenUntilMs: nowMs + MINUTE_MS });
    dead.splice(1);
    const { exitCode, stdout } = await letters();
    expect([exitCode, stdout]).toEqual([
      0,
      `${DEAD} is empty\n1 message more, which somebody else is looking at\n`,
    ]);
    dead.length = 0;
    expect((await letters()).stdout).toBe(`${DEAD} is empty\n`);
  });

  it('goes on where it may not show the messages again', async () => {
    const fault = new WireFault('AccessDenied', 'not for you', 403);
    aws.wire.fail('sqs', 'ChangeMessageVisibilityBatch', fault);
    const { exitCode, stdout, stderr } = await letters();
    expect([exitCode, stdout.slice(0, 10)]).toEqual([0, '3 messages']);
    expect(stderr).toBe(
      'warning: for a minute nobody is handed these messages: ' +
        'sqs:ChangeMessageVisibility: not for you\n',
    );
  });

  it('is refused where there is no stack, and where AWS does not let the caller in', async () => {
    const unknown = await joiner('dead-letters', '--cluster', 'other');
    expect(unknown).toEqual({
      exitCode: 2,
      stdout: '',
      stderr:
        'error: there is no queue joiner-other-interruption-dead in us-east-1: ' +
        'name the cluster and region of a stack\n',
    });
    aws.denied.add('sqs');
    const denied = await letters();
    expect([denied.exitCode, denied.stdout]).toEqual([1, '']);
    expect(denied.stderr).toBe('error: sqs:GetQueueUrl: not for you\n');
  });

  it.each([
    [['--redrive', '--discard', '--id', 'x'], 'give --redrive or --discard, not both'],
    [['--discard'], '--discard takes ids: --id ID…'],
    [['--id', 'x'], '--id is for --redrive and --discard'],
    [['--dry-run'], '--dry-run is for --redrive and --discard'],
    [['--limit', '0'], 'expected a whole number from 1 to 1000'],
    [['--region', 'mars'], 'expected the name of a region'],
    [['-o', 'xml'], 'text, json, yaml'],
  ])('%j is bad usage', async (args, message) => {
    const { exitCode, stdout, stderr } = await letters(...args);
    expect([exitCode, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
    expect(calls()).toEqual([]);
  });
});

describe('joiner dead-letters --redrive', () => {
  it('has SQS move everything back', async () => {
    const bodies = dead.map(({ body }) => body);
    const { exitCode, stdout, stderr } = await letters('--redrive');
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 0,
      stdout: `${DEAD}: redriven, 3 of 3 messages moved\n`,
      stderr: '',
    });
    expect([dead, source.map(({ body }) => body)]).toEqual([[], bodies]);
    expect(calls()).not.toContain('ReceiveMessage');
    expect(aws.wire.inputsOf('StartMessageMoveTask')).toEqual([
      {
        SourceArn: `arn:aws:sqs:us-east-1:${ACCOUNT}:${DEAD}`,
        DestinationArn: `arn:aws:sqs:us-east-1:${ACCOUNT}:${QUEUE}`,
      },
    ]);
  });

  it('says why SQS gave up', async () => {
    aws.sqs.redrives = 'FAILED';
    const { exitCode, stdout } = await letters('--redrive');
    expect([exitCode, stdout]).toEqual([
      1,
      `${DEAD}: the redrive is FAILED, 0 of 3 messages moved: AccessDenied\n`,
    ]);
    const again = await letters('--redrive', '-o', 'json');
    expect(JSON.parse(again.stdout)).toMatchObject({
      queue: DEAD,
      redrive: { status: 'FAILED', moved: 0, toMove: 3, failure: 'AccessDenied' },
    });
  });

  it('starts no second one while one is under way', async () => {
    aws.sqs.tasks.push({ Status: 'RUNNING', ApproximateNumberOfMessagesMoved: 2 });
    const { exitCode, stderr } = await letters('--redrive');
    expect([exitCode, stderr]).toEqual([1, 'error: a redrive is under way: 2 messages moved\n']);
    expect(calls()).not.toContain('StartMessageMoveTask');
  });

  it('sends a chosen message back before it deletes it, and touches no other', async () => {
    const body = dead.find(({ id }) => id === SCHEDULED)?.body;
    const { exitCode, stdout } = await letters('--redrive', '--id', SCHEDULED);
    expect([exitCode, stdout]).toEqual([0, `${SCHEDULED}: redriven: interrupt gets it again\n`]);
    expect([ids(dead), hidden()]).toEqual([[BROKEN, SPOT], []]);
    expect(source.map((each) => each.body)).toEqual([body]);
    const [sent, deleted] = ['SendMessage', 'DeleteMessageBatch'].map((name) =>
      calls().indexOf(name),
    );
    expect(sent).toBeGreaterThan(0);
    expect(deleted).toBeGreaterThan(sent ?? 0);
  });

  it('keeps what cannot be sent', async () => {
    const fault = new WireFault('AccessDenied', 'not for you', 403);
    aws.wire.fail('sqs', 'SendMessage', fault);
    const { exitCode, stdout } = await letters('--redrive', '--id', SPOT);
    expect([exitCode, stdout]).toEqual([
      1,
      `${SPOT}: still here: AccessDenied: sqs:SendMessage: not for you\n`,
    ]);
    expect([ids(dead), hidden()]).toEqual([[BROKEN, SPOT, SCHEDULED], []]);
    expect(calls()).not.toContain('DeleteMessageBatch');
  });

  it.each([
    ['SQS refuses one', 'InternalError: try again', () => void aws.sqs.stuck.add(SPOT)],
    [
      'the caller may not delete',
      'AccessDenied: sqs:DeleteMessage: not for you',
      () =>
        aws.wire.fail('sqs', 'DeleteMessageBatch', new WireFault('AccessDenied', 'not for you')),
    ],
  ])('says that a message is there twice: %s', async (_, why, spoil) => {
    spoil();
    const { exitCode, stdout } = await letters('--redrive', '--id', SPOT);
    expect([exitCode, stdout]).toEqual([1, `${SPOT}: redriven, but it is still here: ${why}\n`]);
    expect([ids(dead), hidden(), source.length]).toEqual([[BROKEN, SPOT, SCHEDULED], [], 1]);
  });

  it('keeps a message whose copy may have been sent, where the answer is lost', async () => {
    aws.wire.fail('sqs', 'SendMessage', 'lost');
    const { exitCode, stdout } = await letters('--redrive', '--id', SPOT);
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining(`${SPOT}: still here: `)]);
    expect([ids(dead), hidden()]).toEqual([[BROKEN, SPOT, SCHEDULED], []]);
    expect(source.length).toBeGreaterThan(0);
  });

  it('names the ids that are not there, and redrives the others', async () => {
    const { exitCode, stdout, stderr } = await letters('--redrive', '--id', 'x', BROKEN);
    expect([exitCode, stdout]).toEqual([1, `${BROKEN}: redriven: interrupt gets it again\n`]);
    expect(stderr).toBe('error: x is not among the 3 messages that SQS hands out now\n');
  });

  it.each([
    [[], [SPOT, SCHEDULED, BROKEN], 'redriven'],
    [['--id', SPOT], [SPOT], 'redriven'],
    [['--discard', '--id', SPOT], [SPOT], 'discarded'],
  ])('%j --dry-run changes nothing', async (args, named, deed) => {
    const line = args.includes('--discard') ? args : ['--redrive', ...args];
    const { exitCode, stdout } = await letters(...line, '--dry-run');
    const said = named.map((id) => `${id}: would be ${deed} (dry run)\n`).join('');
    expect([exitCode, stdout]).toEqual([0, said]);
    expect([ids(dead), hidden(), source]).toEqual([[BROKEN, SPOT, SCHEDULED], [], []]);
  });
});

describe('the rights that it takes', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/deploy.md'), 'utf8');

  it('are in the help and in the documentation', async () => {
    await letters('--redrive', '--id', SPOT);
    await letters('--redrive');
    const { stdout: help } = await joiner('dead-letters', '--help');
    const asked = new Set(calls().map((name) => `sqs:${name.replace(/Batch$/, '')}`));
    const named = (text: string) => new Set(text.match(/\bsqs:\w+/g));
    expect([named(help), asked]).toEqual([asked, named(page)]);
  });
});

describe('joiner dead-letters --discard', () => {
  it('deletes what is named', async () => {
    const { exitCode, stdout } = await letters('--discard', '--id', BROKEN, SPOT, '-o', 'json');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      queue: DEAD,
      messages: [
        { id: SPOT, result: 'discarded', why: null },
        { id: BROKEN, result: 'discarded', why: null },
      ],
    });
    expect([ids(dead), hidden(), source]).toEqual([[SCHEDULED], [], []]);
  });

  it('says what SQS keeps', async () => {
    aws.sqs.stuck.add(BROKEN);
    const { exitCode, stdout } = await letters('--discard', '--id', BROKEN);
    expect([exitCode, stdout]).toEqual([1, `${BROKEN}: still here: InternalError: try again\n`]);
  });
});
