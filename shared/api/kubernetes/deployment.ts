import { type Rollout, rolloutFault } from '../../core/lifecycle/rollout.ts';
import { Reader } from '../read.ts';

/** What the API server takes where nothing is written. */
const DEFAULT_SHARE = '25%';

/** As the API server has it, which has checked it. */
export function decodeRollout(deployment: unknown): Rollout {
  const read = new Reader();
  const spec = read.fields(read.fields(deployment, '')['spec'], 'spec');
  const strategy = read.fields(spec['strategy'], 'spec.strategy');
  const path = 'spec.strategy.rollingUpdate';
  const rolling = read.fields(strategy['rollingUpdate'], path);
  const share = (name: string): number | string => {
    const value = rolling[name];
    return typeof value === 'number' || typeof value === 'string' ? value : DEFAULT_SHARE;
  };
  return {
    isPaused: read.flag(spec['paused'], 'spec.paused') === true,
    strategy: read.text(strategy['type'], 'spec.strategy.type') ?? 'RollingUpdate',
    replicas: read.integer(spec['replicas'], 'spec.replicas') ?? 1,
    maxUnavailable: share('maxUnavailable'),
    maxSurge: share('maxSurge'),
  };
}

/** Why the Deployment is not restarted, with its name; undefined: it may be. */
export function deploymentFault(
  deployment: unknown,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): string | undefined {
  const fault = rolloutFault(decodeRollout(deployment));
  return fault && `Deployment ${namespace}/${name}: ${fault}`;
}
