import { describe, expect, it } from 'vitest';
import { Prng } from '../../../shared/sim/prng.ts';
import { decodeScenario } from '../../../shared/sim/scenario.ts';
import { Timeline } from '../../../shared/sim/timeline.ts';

function problems(raw: unknown): readonly string[] {
  const decoded = decodeScenario(raw);
  return decoded.ok ? [] : decoded.issues.map(({ path }) => path);
}

const RESERVE = { id: 'cr-1', instanceType: 'a', zone: 'b', instances: 1 };

describe('scenario files', () => {
  it('read times, defaults and every kind of step', () => {
    const decoded = decodeScenario({
      steps: [
        { at: '1m30s', scale: { name: 'web', replicas: 3 } },
        { at: '2m', interrupt: {}, withhold: ['nvidia.com/gpu'] },
        { at: '3m', unavailable: { capacityType: 'spot', for: '10m' } },
        { at: '4m', price: { instanceType: 'm5.large', capacityType: 'spot', price: 0.01 } },
        { at: '5m', apply: ['a.yaml'], delete: [{ kind: 'Pod', name: 'x' }] },
      ],
    });
    expect(decoded.ok && decoded.value.steps[0]).toEqual({
      at: 90_000,
      scale: { kind: 'Deployment', name: 'web', namespace: 'default', replicas: 3 },
    });
  });

  it.each<[string, unknown, readonly string[]]>([
    ['nothing', undefined, ['']],
    ['no steps', { steps: [] }, ['steps']],
    ['a time that is none', { steps: [{ at: 'soon', withhold: ['x'] }] }, ['steps[0].at']],
    [
      'an unknown field',
      { steps: [{ at: '1s', withhold: ['x'], explode: true }] },
      ['steps[0].explode'],
    ],
    ['nothing to do', { steps: [{ at: '1s' }] }, ['steps[0]']],
    [
      'negative replicas',
      { steps: [{ at: '1s', scale: { name: 'a', replicas: -1 } }] },
      ['steps[0].scale.replicas'],
    ],
    [
      'a price of nothing',
      { steps: [{ at: '1s', price: { instanceType: 'a', capacityType: 'spot', price: 0 } }] },
      ['steps[0].price.price'],
    ],
    [
      'reserved prices',
      { steps: [{ at: '1s', price: { instanceType: 'a', capacityType: 'reserved', price: 1 } }] },
      ['steps[0].price.capacityType'],
    ],
    [
      'a Capacity Block without an end',
      { steps: [{ at: '1s', reserve: { ...RESERVE, reservationType: 'capacity-block' } }] },
      ['steps[0].reserve.for'],
    ],
    [
      'a reservation by a name',
      { steps: [{ at: '1s', reserve: { ...RESERVE, id: 'mine' } }] },
      ['steps[0].reserve.id'],
    ],
  ])('%s', (_, raw, expected) => {
    expect(problems(raw)).toEqual(expected);
  });
});

describe('virtual time', () => {
  it('runs events by time, then in the order of planning', async () => {
    const timeline = new Timeline(0);
    const seen: string[] = [];
    const times = [5, 1, 3, 1, 4, 5, 2];
    for (const [index, at] of times.entries())
      timeline.at(at, () => void seen.push(`${at}.${index}`));
    while (timeline.nextMs() !== undefined) await timeline.advance();
    expect(seen).toEqual(['1.1', '1.3', '2.6', '3.2', '4.4', '5.0', '5.5']);
    expect(timeline.nowMs()).toBe(5);
  });

  it('random streams of one seed are repeatable and independent', () => {
    const draw = (seed: number, stream: string): readonly number[] => {
      const prng = new Prng(seed, stream);
      return [prng.next(), prng.next(), prng.next()];
    };
    expect(draw(1, 'a')).toEqual(draw(1, 'a'));
    expect(draw(1, 'a')).not.toEqual(draw(1, 'b'));
    expect(draw(1, 'a')).not.toEqual(draw(2, 'a'));
  });
});
