import { Fn } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { type Synthesised, synthesise } from './synthesis.ts';

const ROLE = 'arn:aws:iam::111122223333:role/team-a';
const OTHER = 'arn:aws:iam::111122223333:role/team-b';

type Resource = Readonly<Record<string, unknown>>;

function all({ template }: Synthesised): ReadonlyMap<string, Resource> {
  return new Map(Object.entries(template.toJSON()['Resources']));
}

/** What nodes need of the stack: their role, and how the cluster knows it. */
function dataPlane(stack: Synthesised): readonly (readonly [string, Resource])[] {
  return [...all(stack)].filter(([id, { Type }]) => {
    const isEntry = Type === 'AWS::EKS::AccessEntry' && id.includes('Accessnodes');
    const isWindows = Type === 'AWS::EKS::AccessEntry' && id.includes('Accesswindowsnodes');
    return isEntry || isWindows || (Type === 'AWS::IAM::Role' && id.includes('Nodes'));
  });
}

/** As CloudFormation: what a template no longer has, or has with another identity, is removed. */
function removed(before: Synthesised, after: Synthesised | undefined): readonly string[] {
  const now = after === undefined ? new Map<string, Resource>() : all(after);
  return dataPlane(before).flatMap(([id, resource]) => {
    const next = now.get(id);
    const isReplaced = next !== undefined && identity(next) !== identity(resource);
    const isKept =
      next === undefined
        ? resource['DeletionPolicy'] === 'RetainExceptOnCreate'
        : !isReplaced || resource['UpdateReplacePolicy'] === 'Retain';
    return isKept ? [] : [id];
  });
}

function identity({ Properties }: Resource): string {
  const { PrincipalArn, ClusterName, RoleName } = Object(Properties);
  return JSON.stringify([PrincipalArn, ClusterName, RoleName]);
}

const first = synthesise({ cluster: 'demo', windowsNodes: true, nodeRoles: [OTHER] });

describe('role and access entry of running nodes are never removed', () => {
  it('there are some', () => {
    expect(
      dataPlane(first)
        .map(([, { Type }]) => Type)
        .toSorted(),
    ).toEqual([
      'AWS::EKS::AccessEntry',
      'AWS::EKS::AccessEntry',
      'AWS::EKS::AccessEntry',
      'AWS::IAM::Role',
      'AWS::IAM::Role',
    ]);
  });

  it.each([
    ['another role', synthesise({ cluster: 'demo', nodeRole: ROLE })],
    [
      'another role with its entry',
      synthesise({ cluster: 'demo', nodeRole: ROLE, nodeRoleEntry: true }),
    ],
    ['fewer roles', synthesise({ cluster: 'demo' })],
    ['the end of the stack', undefined],
  ])('by %s', (_, after) => {
    expect(removed(first, after)).toEqual([]);
  });

  it('nor by a role that takes the place of another', () => {
    const before = synthesise({ cluster: 'demo', nodeRole: ROLE, nodeRoleEntry: true });
    const after = synthesise({ cluster: 'demo', nodeRole: OTHER, nodeRoleEntry: true });
    expect(removed(before, after)).toEqual([]);
  });
});

describe('a stack that is to go', () => {
  it('is asked first whether nodes are left', () => {
    const resources = all(synthesise({ cluster: 'demo' }));
    const ids = [...resources.keys()];
    const guard = ids.filter((id) => id.includes('InstallerNodes'));
    expect(guard).toHaveLength(1);
    const needed = new Set(guard);
    for (const id of needed) {
      const text = JSON.stringify(resources.get(id));
      for (const each of ids) if (text.includes(`"${each}"`)) needed.add(each);
    }
    // It waits for its answer before anything else is deleted.
    expect(ids.filter((id) => !needed.has(id))).toEqual([]);
  });

  it('may say that nodes are left', () => {
    const { template } = synthesise({ cluster: 'demo', leaveNodes: true });
    const step = { Step: 'nodes', LeaveNodes: 'true' };
    template.hasResourceProperties('Custom::JoinerInstall', step);
  });
});

describe('roles and images of one’s own', () => {
  const { template } = synthesise({
    cluster: 'demo',
    nodeRoles: [ROLE, OTHER],
    imageParameters: ['/images/golden/*', 'arn:aws:ssm:eu-west-1:444455556666:parameter/shared'],
  });
  const text = JSON.stringify(template.toJSON());

  it('may be passed, and nodes that have them may join', () => {
    for (const PrincipalArn of [ROLE, OTHER]) {
      template.hasResourceProperties('AWS::EKS::AccessEntry', { PrincipalArn, Type: 'EC2_LINUX' });
      const passing = Object.values(template.findResources('AWS::IAM::Role')).filter((role) =>
        JSON.stringify(role['Properties']['Policies'] ?? []).includes(PrincipalArn),
      );
      expect(passing).toHaveLength(2);
    }
  });

  it('are read where the stack names them', () => {
    expect(text).toContain(':parameter/images/golden/*');
    expect(text).toContain('arn:aws:ssm:eu-west-1:444455556666:parameter/shared');
  });

  it('get one entry each, also those that are named twice', () => {
    const roles = { nodeRole: ROLE, nodeRoleEntry: true, nodeRoles: [ROLE, OTHER, OTHER] };
    const twice = synthesise({ cluster: 'demo', ...roles });
    for (const PrincipalArn of [ROLE, OTHER]) {
      twice.template.resourcePropertiesCountIs('AWS::EKS::AccessEntry', { PrincipalArn }, 1);
    }
  });

  it('get no entry where the cluster has them already', () => {
    const none = synthesise({ cluster: 'demo', nodeRoles: [ROLE], nodeRoleEntry: false });
    const entries = JSON.stringify(none.template.findResources('AWS::EKS::AccessEntry'));
    expect(entries).not.toContain(ROLE);
  });

  it('have the same entry in each synthesis, also where a token names them', () => {
    const entries = (): readonly string[] => {
      const nodeRoles = [Fn.importValue('TeamRole')];
      const { template } = synthesise({ cluster: 'demo', nodeRoles });
      return Object.keys(template.findResources('AWS::EKS::AccessEntry'));
    };
    expect(entries()).toEqual(entries());
  });
});
