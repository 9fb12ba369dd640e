import { describe, expect, it } from 'vitest';
import {
  decodeLimitRange,
  type LimitRange,
  withLimitRanges,
} from '../../../shared/api/kubernetes/limit-range.ts';
import { PodSpecReader } from '../../../shared/api/kubernetes/pod-spec.ts';

function rangeOf(...limits: readonly object[]): LimitRange {
  const metadata = { name: 'defaults', namespace: 'team' };
  const decoded = decodeLimitRange({ metadata, spec: { limits } });
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.issues));
  return decoded.value;
}

function cpuOf(resources: object, ...ranges: readonly LimitRange[]): number | undefined {
  const spec = withLimitRanges({ containers: [{ name: 'main', resources }] }, ranges);
  return new PodSpecReader().read(spec, 'spec').spec.requests['cpu'];
}

const container = { type: 'Container' };

describe('a LimitRange', () => {
  it.each<[string, object, object, number | undefined]>([
    ['defaultRequest', { defaultRequest: { cpu: '300m' } }, {}, 300],
    ['default, without defaultRequest', { default: { cpu: 2 } }, {}, 2000],
    ['max, without either', { max: { cpu: '3' } }, {}, 3000],
    ['min, without anything else', { min: { cpu: '50m' } }, {}, 50],
    ['defaultRequest before min', { min: { cpu: '50m' }, defaultRequest: { cpu: '70m' } }, {}, 70],
    ['the container first', { defaultRequest: { cpu: '2' } }, { requests: { cpu: '1' } }, 1000],
    [
      "the container's limit before it",
      { defaultRequest: { cpu: '2' } },
      { limits: { cpu: 1 } },
      1000,
    ],
    [
      'what else the container says',
      { defaultRequest: { cpu: 1 } },
      { requests: { memory: 1 } },
      1000,
    ],
  ])('gives a container %s', (_, item, resources, cpu) => {
    expect(cpuOf(resources, rangeOf({ ...container, ...item }))).toBe(cpu);
  });

  it('gives pods nothing', () => {
    expect(cpuOf({}, rangeOf({ type: 'Pod', max: { cpu: '3' } }))).toBeUndefined();
  });

  it('is the greatest of several', () => {
    const small = rangeOf({ ...container, defaultRequest: { cpu: '900m' } });
    const large = rangeOf({ ...container, defaultRequest: { cpu: '1' } });
    expect(cpuOf({}, small, large)).toBe(1000);
    expect(cpuOf({}, large, small)).toBe(1000);
  });

  it('counts for init containers and for limits', () => {
    const range = rangeOf({ ...container, defaultRequest: { cpu: '1' }, default: { cpu: '2' } });
    const spec = withLimitRanges(
      { containers: [{ name: 'main' }], initContainers: [{ name: 'set-up' }] },
      [range],
    );
    const { spec: read } = new PodSpecReader().read(spec, 'spec');
    expect(read.limits).toEqual({ cpu: 2000 });
    expect(spec).toMatchObject({ initContainers: [{ resources: { requests: { cpu: '1' } } }] });
  });

  it('is refused with the field where an amount is none', () => {
    const spec = { limits: [{ ...container, defaultRequest: { cpu: 'much' } }] };
    const decoded = decodeLimitRange({ metadata: { name: 'a' }, spec });
    expect(decoded).toMatchObject({
      ok: false,
      issues: [{ path: 'spec.limits[0].defaultRequest.cpu' }],
    });
  });
});
