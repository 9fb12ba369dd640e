import { describe, expect, it } from 'vitest';
import { allPages, Calls } from '../../../shared/aws/calls.ts';
import { faultKind, mayRetry, portError } from '../../../shared/aws/faults.ts';
import { TokenBucket } from '../../../shared/aws/token-bucket.ts';
import { PortError } from '../../../shared/ports/fault.ts';

/** A clock that only waiting moves. */
function aClock() {
  const clock = { nowMs: 0, waits: [] as number[] };
  const timing = {
    nowMs: () => clock.nowMs,
    sleep: async (ms: number) => {
      clock.waits.push(ms);
      clock.nowMs += ms;
    },
  };
  return { clock, timing };
}

function awsError(code: string, status: number): Error {
  return Object.assign(new Error('said AWS'), {
    Code: code,
    $metadata: { httpStatusCode: status },
  });
}

describe('kinds of faults', () => {
  const rows = [
    ['InsufficientInstanceCapacity', 'unfulfillable'],
    ['MaxSpotInstanceCountExceeded', 'unfulfillable'],
    ['VcpuLimitExceeded', 'unfulfillable'],
    ['UnfulfillableCapacity', 'unfulfillable'],
    ['Unsupported', 'unfulfillable'],
    ['InsufficientFreeAddressesInSubnet', 'unfulfillable'],
    ['MaxFleetCountExceeded', 'unfulfillable'],
    ['ReservationCapacityExceeded', 'unfulfillable'],
    ['RequestLimitExceeded', 'throttled'],
    ['ThrottlingException', 'throttled'],
    ['SlowDown', 'throttled'],
    ['InvalidInstanceID.NotFound', 'not-found'],
    ['InvalidLaunchTemplateName.NotFoundException', 'not-found'],
    ['NoSuchEntity', 'not-found'],
    ['NoSuchKey', 'not-found'],
    ['ParameterNotFound', 'not-found'],
    ['ResourceNotFoundException', 'not-found'],
    ['UnauthorizedOperation', 'unauthorised'],
    ['AccessDenied', 'unauthorised'],
    ['ExpiredToken', 'unauthorised'],
    ['InternalError', 'unknown'],
    ['InvalidParameterValue', 'unknown'],
  ] as const;
  it.each(rows)('%s is %s', (code, kind) => {
    expect(faultKind(code)).toBe(kind);
    expect(portError(awsError(code, 400), 'ec2:X')).toMatchObject({ kind, code });
  });

  it('a status of 429 is throttling whatever the code', () => {
    expect(portError(awsError('Odd', 429), 's3:GetObject').kind).toBe('throttled');
  });

  it('what is no error of AWS keeps its cause', () => {
    const cause = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    const fault = portError(cause, 'ec2:X');
    expect(fault).toMatchObject({ kind: 'unknown', code: 'ECONNRESET', cause });
    expect(mayRetry(fault)).toBe(true);
    expect(portError('text', 'ec2:X').message).toBe('ec2:X: text');
    expect(portError(fault, 'ec2:Y')).toBe(fault);
  });

  it('only throttling, broken connections and bad moments are worth another try', () => {
    const transient = (code: string, status: number) =>
      mayRetry(portError(awsError(code, status), 'ec2:X'));
    expect(transient('RequestLimitExceeded', 400)).toBe(true);
    expect(transient('InternalError', 500)).toBe(true);
    expect(transient('InvalidParameterValue', 400)).toBe(false);
    expect(transient('UnauthorizedOperation', 403)).toBe(false);
  });
});

/** As the SDK throws it; `name` is the code where the error has no other. */
function sdkError(name: string, status?: number): Error {
  const metadata = status === undefined ? {} : { $metadata: { httpStatusCode: status } };
  return Object.assign(new Error('said the SDK'), { name, ...metadata });
}

describe('what may work in a while without anybody’s doing', () => {
  it.each([
    ['throttling', 'RequestLimitExceeded', 503, true],
    ['throttling as a 4xx', 'ThrottlingException', 400, true],
    ['a status of throttling', 'Odd', 429, true],
    ['a bad moment', 'InternalError', 500, true],
    ['a bad moment whose code nobody knows', 'Odd', 503, true],
    ['a connection that broke', 'ECONNRESET', undefined, true],
    ['a name that is not resolved', 'ENOTFOUND', undefined, true],
    ['a time-out', 'TimeoutError', undefined, true],
    ['a time-out that AWS tells of', 'RequestTimeout', 400, true],
    ['no credentials', 'CredentialsProviderError', undefined, true],
    ['another that changes the same', 'ConcurrentModification', 409, true],
    ['a profile whose role has just been removed', 'DeleteConflict', 409, true],
    ['an empty refusal', 'Unknown', 403, true],
    ['a refusal in XML that is none', 'Error', 403, true],
    ['a refusal in JSON that is none', 'SyntaxError', 407, true],
    ['an answer that cannot be read', 'SyntaxError', 200, true],
    ['a parameter that is wrong', 'InvalidParameterValue', 400, false],
    ['a parameter of SSM that is wrong', 'ValidationException', 400, false],
    ['a 4xx whose code nobody knows', 'Odd', 400, false],
    ['a limit of the account', 'LimitExceeded', 409, false],
    ['what is not there', 'NoSuchEntity', 404, false],
    ['what is not allowed', 'UnauthorizedOperation', 403, false],
    ['no capacity', 'InsufficientInstanceCapacity', 400, false],
  ])('%s (%s, %s): %s', (_, code, status, isTransient) => {
    expect(portError(sdkError(code, status), 'ec2:X').isTransient).toBe(isTransient);
  });
});

describe('a token bucket', () => {
  it('lets a burst through and then one caller after the other', async () => {
    const { clock, timing } = aClock();
    const bucket = new TokenBucket({ size: 2, perSecond: 4 }, timing);
    for (let at = 0; at < 5; at += 1) await bucket.take();
    expect(clock.waits).toEqual([250, 250, 250]);
  });

  it('keeps those who come at once in line', async () => {
    const { clock, timing } = aClock();
    const waits: number[] = [];
    const together = { ...timing, sleep: async (ms: number) => void waits.push(ms) };
    const bucket = new TokenBucket({ size: 1, perSecond: 10 }, together);
    await Promise.all([1, 2, 3, 4].map(() => bucket.take()));
    expect(waits).toEqual([100, 200, 300]);
    clock.nowMs += 10_000;
    await bucket.take();
    expect(waits).toHaveLength(3);
  });
});

describe('calls', () => {
  it('a throttled call is tried once more and no more', async () => {
    const { clock, timing } = aClock();
    const heard: string[] = [];
    const calls = new Calls(timing, ({ kind }) => heard.push(kind));
    let tries = 0;
    const always = calls.run('ec2:CreateFleet', async () => {
      tries += 1;
      throw awsError('RequestLimitExceeded', 503);
    });
    await expect(always).rejects.toMatchObject({ kind: 'throttled' });
    expect(tries).toBe(2);
    expect(heard).toEqual(['throttled', 'throttled']);
    expect(clock.waits).toEqual([500]);
  });

  it('a refused call is not tried again', async () => {
    let tries = 0;
    const refused = new Calls(aClock().timing).run('ec2:CreateFleet', async () => {
      tries += 1;
      throw awsError('InvalidParameterValue', 400);
    });
    await expect(refused).rejects.toBeInstanceOf(PortError);
    expect(tries).toBe(1);
  });

  it('each action has a pace of its own', async () => {
    const { clock, timing } = aClock();
    const calls = new Calls(timing);
    for (let at = 0; at < 30; at += 1) await calls.run('ec2:CreateFleet', async () => at);
    expect(clock.waits).toHaveLength(5);
    await calls.run('ec2:DescribeInstances', async () => 0);
    expect(clock.waits).toHaveLength(5);
  });

  it('reading ends with the last page, and never goes on for ever', async () => {
    const pages = await allPages(async (token) => ({
      items: [Number(token ?? 0)],
      next: token === '2' ? undefined : String(Number(token ?? 0) + 1),
    }));
    expect(pages).toEqual([0, 1, 2]);
    const endless = allPages(async () => ({ items: [1], next: 'x' }));
    await expect(endless).rejects.toThrow(/1000 pages/);
  });
});
