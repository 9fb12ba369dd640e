import { describe, expect, it } from 'vitest';
import { type Answer, SERIES_MAX, sendSeries } from '../../../shared/prometheus/sender.ts';
import { readWriteRequest } from '../../support/prometheus/read-request.ts';

const ENDPOINT = new URL('https://prometheus.example.com/api/v1/write');
const answer = (status: number, rest: Partial<Answer> = {}): Answer => {
  return { status, retryAfter: undefined, text: '', ...rest };
};
const seriesOf = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    name: 'karpenter_pods_state',
    labels: { name: `pod-${at}` },
    samples: [{ atMs: 1, value: 1 }],
  }));

/** An endpoint that answers with these in turn, the last one for ever. */
async function sent(count: number, answers: readonly (Answer | Error)[]) {
  const waits: number[] = [];
  const bodies: Uint8Array[] = [];
  const headers: Readonly<Record<string, string>>[] = [];
  const result = await sendSeries(
    {
      endpoint: ENDPOINT,
      authorize: async (_, given) => ({ ...given, authorization: 'Bearer token' }),
      version: '1.2.3',
      post: async (_, given, body) => {
        const next = answers[Math.min(bodies.length, answers.length - 1)];
        bodies.push(body);
        headers.push(given);
        if (next === undefined || next instanceof Error) throw next;
        return next;
      },
      sleep: async (ms) => {
        waits.push(ms);
      },
    },
    seriesOf(count),
  );
  return { ...result, waits, headers, bodies };
}

describe('series', () => {
  it('are sent in requests of at most 2,000, all of them, as the specification has it', async () => {
    const { written, failed, bodies, headers } = await sent(4_001, [answer(200), answer(204)]);
    expect({ written, failed }).toEqual({ written: 4_001, failed: 0 });
    const read = bodies.map((body) => readWriteRequest(body));
    expect(read.map(({ length }) => length)).toEqual([SERIES_MAX, SERIES_MAX, 1]);
    const names = read.flat().map(({ labels }) => labels[1]?.[1]);
    expect(names).toEqual(seriesOf(4_001).map(({ labels }) => labels.name));
    expect(headers[0]).toEqual({
      host: 'prometheus.example.com',
      authorization: 'Bearer token',
      'content-type': 'application/x-protobuf',
      'content-encoding': 'snappy',
      'user-agent': 'joiner/1.2.3',
      'x-prometheus-remote-write-version': '0.1.0',
    });
  });

  it('are none: nothing is sent', async () => {
    expect(await sent(0, [answer(500)])).toMatchObject({ written: 0, failed: 0, bodies: [] });
  });
});

describe('an endpoint', () => {
  it.each<[string, Answer | Error]>([
    ['status 500', answer(500)],
    ['status 503: busy', answer(503, { text: ' busy\n' })],
    ['status 429', answer(429)],
    ['no answer: fetch failed: reset', new Error('fetch failed', { cause: new Error('reset') })],
  ])('that says %s is asked four times, and then no more', async (fault, said) => {
    const { written, failed, faults, waits, bodies } = await sent(2_001, [said]);
    expect({ written, failed, faults }).toEqual({ written: 0, failed: 2_001, faults: [fault] });
    expect(waits).toEqual([1_000, 2_000, 4_000]);
    expect(bodies).toHaveLength(4);
  });

  it('that is well again takes all', async () => {
    const { written, failed, faults, waits } = await sent(1, [answer(500), answer(200)]);
    expect({ written, failed, faults, waits }).toEqual({
      written: 1,
      failed: 0,
      faults: [],
      waits: [1_000],
    });
  });

  it.each([
    ['7', 7_000],
    ['0', 0],
    ['600', 10_000],
    ['Thu, 01 Jan 2026 00:00:00 GMT', 1_000],
  ])('that says when to ask again is obeyed, within bounds: %s', async (retryAfter, waitMs) => {
    const { waits } = await sent(1, [answer(429, { retryAfter }), answer(200)]);
    expect(waits).toEqual([waitMs]);
  });

  it.each([400, 401, 403, 404, 302])('that refuses with %d is not asked again', async (status) => {
    const { written, failed, faults, waits } = await sent(2_001, [
      answer(status, { text: 'x'.repeat(400) }),
      answer(200),
    ]);
    // The others are tried: of one request samples may be out of order, of the next not.
    expect({ written, failed, waits }).toEqual({ written: 1, failed: 2_000, waits: [] });
    expect(faults).toEqual([`status ${status}: ${'x'.repeat(300)}`]);
  });
});
