import { describe, expect, it } from 'vitest';
import {
  destroyRefusal,
  roleRefusal,
  rolesLost,
  shadowRefusal,
} from '../../../functions/install/nodes.ts';

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

describe('a refusal names the command', () => {
  it('of a stack that is to go', () => {
    const text = destroyRefusal(3, 'demo');
    expect(text).toContain('3 nodes of Joiner are in the cluster demo');
    expect(text).toContain('kubectl delete nodepools --all');
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
