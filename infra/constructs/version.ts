import { createHash } from 'node:crypto';
import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import packageJson from '../../package.json' with { type: 'json' };
import { shortened } from '../../shared/contract.ts';
import { manifests } from '../bundle.ts';
import type { JoinerProps } from './joiner-props.ts';

/**
 * Of everything that the installer applies, and of the version that applies it. A stack that never
 * acts has another one: whoever turns that on or off makes the installer the cluster's admin again.
 */
export function fingerprint({ shadow }: Pick<JoinerProps, 'shadow'>): string {
  const applied = [packageJson.version, manifests(), ...(shadow === true ? ['shadow'] : [])];
  return createHash('sha256').update(JSON.stringify(applied)).digest('hex').slice(0, 16);
}

/** What is left of IAM's 64 characters beside the prefix, a region's name and the version. */
const CLUSTER_LENGTH_MAX = 26;

/**
 * The installer's role, a new one for each version of what it applies: whoever deploys makes it the
 * cluster's admin, and it gives that back. No role of the stack can lend it again.
 */
export function installRole(
  scope: Construct,
  cluster: string,
  version: string,
): { readonly id: string; readonly name: string } {
  const name = [
    'JoinerInstall',
    Stack.of(scope).region,
    shortened(cluster, CLUSTER_LENGTH_MAX),
    version.slice(0, 8),
  ].join('-');
  return { id: `Role${version}`, name };
}
