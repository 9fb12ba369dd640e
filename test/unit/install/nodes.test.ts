import { describe, expect, it } from 'vitest';
import {
  countNodes,
  destroyRefusal,
  roleRefusal,
  rolesLost,
  shadowRefusal,
} from '../../../functions/install/nodes.ts';
import { roleMark } from '../../../shared/core/launch/profile-roles.ts';
import { INSTANCE_PROFILE } from '../../../shared/core/model/labels.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { listingClient } from '../../builders/listing-client.ts';

describe('roles that a stack loses', () => {
  it.each([
    ['a', 'a', []],
    ['a,b', 'b,a', []],
    ['a,b', 'b,c', ['a']],
    ['', 'a', []],
    [undefined, 'a', []],
  ])('%s, then %s', (before, after, lost) => {
    const roles = (NodeRoles: string | undefined) => (NodeRoles === undefined ? {} : { NodeRoles });
    expect(rolesLost(roles(before), roles(after))).toEqual(lost);
  });
});

/** Answers with NodeClaims whose instances have these profiles; '' = none is noted. */
function clusterWith(profiles: readonly string[]): KubeClient {
  const items = profiles.map((profile, at) => ({
    metadata: { name: `claim-${at}`, annotations: { [INSTANCE_PROFILE]: profile } },
    spec: { nodeClassRef: { group: 'karpenter.k8s.aws' } },
  }));
  return listingClient(items);
}

describe('nodes that may have a role', () => {
  const profileOf = (role: string): string => `demo_${'0a'.repeat(10)}_${roleMark(role)}`;

  it.each([
    ['those of a profile that was made for it', [profileOf('old'), profileOf('new')], 1],
    ['none of other roles', [profileOf('new'), profileOf('new')], 0],
    ['those of profiles that were not made for a role', ['theirs', 'demo_123', ''], 3],
  ])('are %s', async (_, profiles, count) => {
    const lost = ['arn:aws:iam::111122223333:role/path/old'];
    expect(await countNodes(clusterWith(profiles), lost)).toBe(count);
    expect(await countNodes(clusterWith(profiles))).toBe(profiles.length);
  });
});

describe('a refusal names the command', () => {
  it('of a stack that is to go', () => {
    const text = destroyRefusal(3, 'demo');
    expect(text).toContain('3 nodes of Joiner are in the cluster demo');
    expect(text).toContain(
      "kubectl delete nodepools $(kubectl get nodepools -o jsonpath='{.items[?(@.spec.template.spec" +
        '.nodeClassRef.kind=="EC2NodeClass")].metadata.name}\');',
    );
    expect(text).toContain('npx cdk deploy -c cluster=demo -c leaveNodes=true');
  });

  it('of a role', () => {
    expect(roleRefusal(1, 'demo', ['arn:a'])).toContain('-c nodeRoles=arn:a');
  });

  it('of a stack that would never act', () => {
    const text = shadowRefusal(2, 'demo');
    expect(text).toContain('2 nodes are in the cluster demo, Karpenter does not run');
    expect(text).toContain('joiner hand-back');
    expect(text).toContain('-c leaveNodes=true');
  });
});
