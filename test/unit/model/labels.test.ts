import { describe, expect, it } from 'vitest';
import {
  INSTANCE_LABELS,
  normalizeLabelKey,
  ownValue,
  WELL_KNOWN_LABELS,
} from '../../../shared/core/model/labels.ts';

describe('a label', () => {
  it.each([
    ['failure-domain.beta.kubernetes.io/zone', 'topology.kubernetes.io/zone'],
    ['failure-domain.beta.kubernetes.io/region', 'topology.kubernetes.io/region'],
    ['beta.kubernetes.io/arch', 'kubernetes.io/arch'],
    ['beta.kubernetes.io/os', 'kubernetes.io/os'],
    ['beta.kubernetes.io/instance-type', 'node.kubernetes.io/instance-type'],
    ['topology.ebs.csi.aws.com/zone', 'topology.kubernetes.io/zone'],
    ['topology.kubernetes.io/zone', 'topology.kubernetes.io/zone'],
    ['team', 'team'],
  ])('%s is called %s now', (key, name) => {
    expect(normalizeLabelKey(key)).toBe(name);
  });

  it('is never what every object inherits', () => {
    expect(ownValue({ team: 'a' }, 'team')).toBe('a');
    expect(ownValue({ team: 'a' }, 'constructor')).toBeUndefined();
  });

  it('of a type, an offering or a NodePool is well known', () => {
    for (const key of Object.values(INSTANCE_LABELS)) expect(WELL_KNOWN_LABELS).toContain(key);
    expect(WELL_KNOWN_LABELS).toContain('karpenter.k8s.aws/capacity-reservation-id');
    expect(WELL_KNOWN_LABELS).toContain('topology.kubernetes.io/zone');
    expect(WELL_KNOWN_LABELS).not.toContain('kubernetes.io/hostname');
  });
});
