import { expect, it } from 'vitest';
import { decodeRollout } from '../../../shared/api/kubernetes/deployment.ts';
import { rolloutFault } from '../../../shared/core/lifecycle/rollout.ts';

const rolling = (rollingUpdate: object, replicas?: number) => ({
  ...(replicas === undefined ? {} : { replicas }),
  strategy: { type: 'RollingUpdate', rollingUpdate },
});
const lets = (missing: number, replicas: number, maxUnavailable: string, maxSurge: string) =>
  `spec.strategy: maxUnavailable ${maxUnavailable} and maxSurge ${maxSurge} let ${missing} of ` +
  `${replicas} pods be missing; valid: maxUnavailable 0`;

it.each<[object, string | undefined]>([
  [{}, undefined],
  [{ replicas: 3 }, undefined],
  [{ replicas: 4 }, lets(1, 4, '25%', '25%')],
  [{ replicas: 1, paused: false }, undefined],
  [{ replicas: 1, paused: true }, 'spec.paused is true; valid: false'],
  [{ strategy: { type: 'Recreate' } }, 'spec.strategy.type is "Recreate"; valid: RollingUpdate'],
  [rolling({ maxUnavailable: 0, maxSurge: 1 }, 8), undefined],
  [rolling({ maxUnavailable: '0%', maxSurge: '1%' }, 8), undefined],
  [rolling({ maxUnavailable: 1, maxSurge: 0 }), lets(1, 1, '1', '0')],
  [rolling({ maxUnavailable: 1, maxSurge: 1 }), lets(1, 1, '1', '1')],
  [rolling({ maxUnavailable: 3 }, 2), lets(2, 2, '3', '25%')],
  [rolling({ maxUnavailable: '99%' }), undefined],
  [rolling({ maxUnavailable: '100%' }), lets(1, 1, '100%', '25%')],
  [rolling({ maxUnavailable: '99%' }, 2), lets(1, 2, '99%', '25%')],
  // Neither may be: the Deployment's controller ends one first.
  [rolling({ maxUnavailable: '25%', maxSurge: 0 }), lets(1, 1, '25%', '0')],
  [rolling({ maxUnavailable: '25%', maxSurge: '0%' }, 3), lets(1, 3, '25%', '0%')],
  [rolling({ maxUnavailable: 1, maxSurge: 0 }, 0), undefined],
])('a restart of a Deployment with %j: %s', (spec, fault) => {
  expect(rolloutFault(decodeRollout({ spec }))).toBe(fault);
});
