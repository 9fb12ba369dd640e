import { beforeAll, expect, it } from 'vitest';
import { manifests } from '../../infra/bundle.ts';
import { RESOURCES, resourceOf } from '../../shared/api/resources.ts';
import { SETTINGS_CONFIG_MAP } from '../../shared/contract.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { find } from '../../shared/kube/find.ts';
import { property, text } from '../../shared/kube/list.ts';
import { ensureNamespace } from '../contract/kube-objects.ts';
import { karpenterCrds, ourCrds } from '../support/control-plane/crds.ts';
import { installerOn, type Outcome } from '../support/control-plane/installer.ts';
import { clientOf, describeWithControlPlane } from '../support/control-plane/suite.ts';

const CRD = RESOURCES.customResourceDefinitions;

await describeWithControlPlane('the installer', ({ admin, plane }) => {
  const dropped: unknown[] = [];
  const run = installerOn(plane, dropped);
  const definition = (name: string): Promise<unknown> => admin().get(CRD, { name });
  const apply = async (client: KubeClient, crd: object): Promise<void> => {
    await client.apply(CRD, { name: text(property(property(crd, 'metadata'), 'name')) }, crd);
  };
  const ours = async (name: string): Promise<object> => {
    const found = (await ourCrds()).find(
      (crd) => property(property(crd, 'metadata'), 'name') === name,
    );
    if (found === undefined) throw new Error(name);
    return found;
  };

  const rightsOf = async (name: string): Promise<unknown> =>
    property(await find(admin(), RESOURCES.clusterRoles, { name }), 'rules');
  const rightsLeft = async (): Promise<readonly string[]> => {
    const left: string[] = [];
    for (const each of manifests()) {
      const kind = text(property(each, 'kind'));
      const resource = resourceOf(text(property(each, 'apiVersion')), kind);
      const { name, namespace } = Object(property(each, 'metadata'));
      if (resource === undefined || resource === CRD) continue;
      const found = await find(admin(), resource, { name, namespace });
      if (found !== undefined) left.push(`${kind} ${name}`);
    }
    return left;
  };
  /** As a version left it that had one role for all, and another right for lifecycle. */
  const older = async (): Promise<void> => {
    for (const name of ['joiner:controller', 'joiner:lifecycle']) {
      const rules = [OF_YESTERDAY];
      await admin().apply(RESOURCES.clusterRoles, { name }, { metadata: { name }, rules });
    }
    const name = 'joiner:controller';
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name };
    const binding = { metadata: { name }, roleRef, subjects: [] };
    await admin().apply(RESOURCES.clusterRoleBindings, { name }, binding);
  };

  beforeAll(async () => {
    await ensureNamespace(admin(), 'kube-system');
  });

  it('says that it is not let in', async () => {
    const outcome = await run('Create', { token: 'unknown' });
    expect(outcome.status).toBe('FAILED');
    expect(outcome.reason).toContain('does not let the installer in');
    expect(outcome.reason).toContain('access entry');
  });

  it('brings definitions and rights, and both have their effect', async () => {
    const outcome = await run('Create');
    expect(outcome).toEqual({ status: 'SUCCESS', reason: '40 objects applied' });
    for (const crd of await ourCrds()) {
      const name = text(property(property(crd, 'metadata'), 'name'));
      const conditions = property(property(await definition(name), 'status'), 'conditions');
      expect(conditions).toContainEqual(
        expect.objectContaining({ type: 'Established', status: 'True' }),
      );
    }
    const role = await admin().get(RESOURCES.clusterRoles, { name: 'joiner:watch' });
    expect(property(role, 'rules')).toEqual(property(ourRole('joiner:watch'), 'rules'));
  });

  it('waits until EKS has seen that it is the admin', async () => {
    const outcome = await run('Create', { late: 3 });
    expect(outcome).toEqual({ status: 'SUCCESS', reason: '40 objects applied' });
  });

  it('changes nothing the second time', async () => {
    const before = await definition('nodepools.karpenter.sh');
    const outcome = await run('Update');
    expect(outcome).toEqual({ status: 'SUCCESS', reason: '40 objects applied' });
    expect(await definition('nodepools.karpenter.sh')).toEqual(before);
  });

  it('states the settings of the stack, those of now and no others, and takes them back', async () => {
    const state = async (type: 'Create' | 'Update' | 'Delete', settings: object) =>
      await run(type, { properties: { Step: 'settings', Settings: JSON.stringify(settings) } });
    const stated = async (): Promise<unknown> => {
      const found = await find(admin(), RESOURCES.configMaps, SETTINGS_CONFIG_MAP);
      return property(found, 'data');
    };
    const done = { status: 'SUCCESS', reason: 'the settings are stated' };
    expect(await state('Create', { FEATURE_GATES: 'NodeRepair=true', OLD: 'x' })).toEqual(done);
    expect(await stated()).toEqual({ FEATURE_GATES: 'NodeRepair=true', OLD: 'x' });
    expect(await state('Update', { FEATURE_GATES: 'NodeRepair=false' })).toEqual(done);
    expect(await stated()).toEqual({ FEATURE_GATES: 'NodeRepair=false' });
    expect((await state('Delete', {})).status).toBe('SUCCESS');
    expect(await stated()).toBeUndefined();
    expect((await state('Delete', {})).status).toBe('SUCCESS');
  });

  it('is worth no less where it may not state them', async () => {
    const properties = { Step: 'settings', Settings: '{}' };
    const outcome = await run('Update', { token: 'unknown', properties });
    expect(outcome.status).toBe('SUCCESS');
    expect(outcome.reason).toContain('the settings are not stated in the cluster');
  });

  it("takes over Karpenter's definitions from helm, and says so", async () => {
    const helm = clientOf(plane(), 'helm');
    for (const crd of await karpenterCrds()) await apply(helm, crd);
    await helm.close();
    const outcome = await run('Update');
    expect(outcome.status).toBe('SUCCESS');
    expect(outcome.reason).toContain(
      'taken over: CustomResourceDefinition capacitybuffers.autoscaling.x-k8s.io from helm',
    );
    expect(outcome.reason).toContain('nodepools.karpenter.sh from helm');
  });

  it('keeps a newer definition', async () => {
    const newer = withField(await ours('nodeoverlays.karpenter.sh'), 'fromTheFuture');
    await apply(admin(), newer);
    const outcome = await run('Update');
    expect(outcome.status).toBe('SUCCESS');
    expect(outcome.reason).toContain(
      'newer ones kept: CustomResourceDefinition nodeoverlays.karpenter.sh',
    );
    const kept = JSON.stringify(await definition('nodeoverlays.karpenter.sh'));
    expect(kept).toContain('fromTheFuture');
  });

  it('fails where a newer definition lacks a field that is needed, and names both', async () => {
    const other = withField(await ours('nodeoverlays.karpenter.sh'), 'fromTheFuture', 'price');
    await apply(admin(), other);
    const outcome = await run('Update');
    expect(outcome.status).toBe('FAILED');
    expect(outcome.reason).toContain('does not know (v1alpha1 spec.fromTheFuture)');
    expect(outcome.reason).toContain('lacks fields that Joiner needs (v1alpha1 spec.price)');
    await apply(admin(), await ours('nodeoverlays.karpenter.sh'));
    expect((await run('Update')).status).toBe('SUCCESS');
  });

  it('with installCrds: false only checks the CRDs, and names what they lack', async () => {
    const properties = { Crds: 'checked' };
    const unnoted = {
      metadata: { name: 'nodeoverlays.karpenter.sh', labels: { kept: 'by-helm' } },
    };
    await admin().patch(CRD, unnoted.metadata, { kind: 'merge', value: unnoted });
    const before = await definition('nodeoverlays.karpenter.sh');
    const outcome = await run('Update', { properties });
    expect(outcome).toEqual({ status: 'SUCCESS', reason: '35 objects applied' });
    expect(await definition('nodeoverlays.karpenter.sh')).toEqual(before);
    await apply(admin(), withField(await ours('nodeoverlays.karpenter.sh'), 'other', 'price'));
    const refused = await run('Update', { properties });
    expect(refused.status).toBe('FAILED');
    expect(refused.reason).toContain('lacks CRDs that this version needs');
    expect(refused.reason).toContain('v1alpha1 spec.price');
    expect(refused.reason).toContain('Upgrade the chart joiner-crds');
    await apply(admin(), await ours('nodeoverlays.karpenter.sh'));
    expect((await run('Update')).status).toBe('SUCCESS');
  });

  it("leaves Karpenter's definitions to Auto Mode", async () => {
    const before = await definition('nodepools.karpenter.sh');
    const outcome = await run('Update', { isAutoMode: true });
    expect(outcome.status).toBe('SUCCESS');
    expect(outcome.reason).toContain('37 objects applied');
    expect(outcome.reason).toMatch(/left to Auto Mode: .*nodeclaims.*nodeoverlays.*nodepools/);
    expect(await definition('nodepools.karpenter.sh')).toEqual(before);
  });

  it('keeps a stack, and its node roles, while nodes of its classes are there', async () => {
    const claim = (name: string, group: string, kind: string) => ({
      metadata: { name },
      spec: { nodeClassRef: { group, kind, name: 'default' }, requirements: [] },
    });
    await admin().create(RESOURCES.nodeClaims, claim('ours', 'karpenter.k8s.aws', 'EC2NodeClass'));
    await admin().create(RESOURCES.nodeClaims, claim('auto', 'eks.amazonaws.com', 'NodeClass'));
    const end = (more: Readonly<Record<string, string>> = {}): Promise<Outcome> =>
      run('Delete', { properties: { Step: 'nodes', ...more } });
    const refused = await end();
    expect(refused.status).toBe('FAILED');
    expect(refused.reason).toContain('1 nodes of Joiner are in the cluster demo');
    expect(refused.reason).toContain('kubectl delete nodepools $(kubectl get nodepools');
    expect((await end({ LeaveNodes: 'true' })).status).toBe('SUCCESS');
    const change = (NodeRoles: string): Promise<Outcome> =>
      run('Update', {
        properties: { Step: 'roles', NodeRoles },
        oldProperties: { Step: 'roles', NodeRoles: 'arn:a' },
      });
    expect((await change('arn:b,arn:a')).status).toBe('SUCCESS');
    const lost = await change('arn:b');
    expect(lost.status).toBe('FAILED');
    expect(lost.reason).toContain('-c nodeRoles=arn:a');
    await admin().delete(RESOURCES.nodeClaims, { name: 'ours' }, {});
    expect(await end()).toEqual({ status: 'SUCCESS', reason: 'no nodes are left' });
    expect((await change('arn:b')).status).toBe('SUCCESS');
    await admin().delete(RESOURCES.nodeClaims, { name: 'auto' }, {});
  });

  it('for a stack that never acts applies its rights alone, and takes all others back', async () => {
    const names = ['nodepools.karpenter.sh', 'nodeclaims.karpenter.sh'];
    const before = await Promise.all(names.map(definition));
    const Shadow = 'true';
    const applied = await run('Update', { properties: { Shadow } });
    expect(applied).toEqual({ status: 'SUCCESS', reason: '8 objects applied' });
    // Functions of before run until the deployment ends.
    expect(await rightsOf('joiner:provision')).toBeDefined();
    const properties = { Step: 'settle', Policy: 'arn:policy', Principal: 'arn:role', Shadow };
    const settled = await run('Update', { properties });
    expect(settled.status).toBe('SUCCESS');
    expect(settled.reason).toContain('ClusterRole joiner:provision');
    dropped.splice(0);
    expect([...new Set((await rightsLeft()).map((each) => each.split(' ')[1]))].sort()).toEqual([
      'joiner:install',
      'joiner:shadow',
    ]);
    expect(await Promise.all(names.map(definition))).toEqual(before);
    const rules = property(ourRole('joiner:shadow'), 'rules');
    expect(await rightsOf('joiner:shadow')).toEqual(rules);
    const lacks = await run('Update', { group: 'joiner:install' });
    expect(lacks.reason).toContain('ClusterRole joiner:disrupt is absent');
    const asItIs = await run('Update', { group: 'joiner:install', properties: { Shadow } });
    expect(asItIs.status).toBe('SUCCESS');
    expect((await run('Update')).status).toBe('SUCCESS');
    expect(await rightsOf('joiner:provision')).toBeDefined();
  });

  it('makes no stack one that never acts while nodes are there that nobody looks after', async () => {
    const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
    const claim = { metadata: { name: 'ours' }, spec: { nodeClassRef, requirements: [] } };
    await admin().create(RESOURCES.nodeClaims, claim);
    const change = (more: Readonly<Record<string, string>> = {}): Promise<Outcome> =>
      run('Update', {
        properties: { Step: 'roles', NodeRoles: '', Shadow: 'true', ...more },
        oldProperties: { Step: 'roles', NodeRoles: 'arn:a' },
      });
    const refused = await change();
    expect(refused.status).toBe('FAILED');
    expect(refused.reason).toContain('1 nodes are in the cluster demo, Karpenter does not run');
    expect((await change({ LeaveNodes: 'true' })).status).toBe('SUCCESS');
    const lease = { namespace: 'kube-system', name: 'karpenter-leader-election' };
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    const spec = { holderIdentity: 'karpenter-0', renewTime };
    await admin().create(RESOURCES.leases, { metadata: lease, spec }, lease.namespace);
    expect(await change()).toEqual({
      status: 'SUCCESS',
      reason: 'Karpenter looks after the nodes, or there are none',
    });
    await admin().delete(RESOURCES.leases, lease, {});
    await admin().delete(RESOURCES.nodeClaims, { name: 'ours' }, {});
    expect((await change()).status).toBe('SUCCESS');
  });

  it('keeps what an older version needs until all is settled, and its own rights, too', async () => {
    await older();
    expect((await run('Update')).status).toBe('SUCCESS');
    expect(await rightsOf('joiner:lifecycle')).toContainEqual(OF_YESTERDAY);
    expect(await rightsOf('joiner:controller')).toEqual([OF_YESTERDAY]);
    // Rolled back: the version before finds what it needs, though it is not the admin any more.
    const back = await run('Update', { group: 'joiner:install' });
    expect(back).toEqual({
      status: 'SUCCESS',
      reason: 'the cluster has all that this version needs; the installer is not its admin',
    });
    const properties = { Step: 'settle', Policy: 'arn:policy', Principal: 'arn:role' };
    const settled = await run('Update', { properties });
    expect(settled.status).toBe('SUCCESS');
    expect(settled.reason).toContain('removed: ClusterRoleBinding joiner:controller');
    expect(settled.reason).toContain('the installer is no longer the cluster admin');
    const entry = { cluster: 'demo', policyArn: 'arn:policy', principalArn: 'arn:role' };
    expect(dropped).toEqual([entry]);
    const ours = property(ourRole('joiner:lifecycle'), 'rules');
    expect(await rightsOf('joiner:lifecycle')).toEqual(ours);
    expect(await rightsOf('joiner:controller')).toBeUndefined();
  });

  it('gives back what it was lent though the rights cannot be settled', async () => {
    dropped.splice(0);
    const metadata = { name: 'any', namespace: 'not-there' };
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata, rules: [] };
    const properties = { Step: 'settle', Policy: 'arn:policy', Principal: 'arn:role' };
    const outcome = await run('Update', { properties, manifests: [role] });
    expect(outcome.status).toBe('FAILED');
    expect(dropped).toHaveLength(1);
  });

  it('without the admin’s rights changes nothing and names what a version lacks', async () => {
    const group = 'joiner:install';
    await older();
    const address = { name: 'joiner:interrupt' };
    await admin().patch(RESOURCES.clusterRoles, address, {
      kind: 'merge',
      value: { rules: [OF_YESTERDAY] },
    });
    const outcome = await run('Update', { group });
    expect(outcome.status).toBe('FAILED');
    expect(outcome.reason).toContain('ClusterRole joiner:interrupt lacks');
    expect(outcome.reason).toContain('list nodeclaims.karpenter.sh');
    expect(outcome.reason).toContain('kubectl apply --server-side --recursive -f joiner-manifests');
    expect(await rightsOf('joiner:interrupt')).toEqual([OF_YESTERDAY]);
    expect((await run('Update')).status).toBe('SUCCESS');
    expect((await run('Update', { group })).status).toBe('SUCCESS');
    // Nobody has applied anything, and the group has no rights.
    const refused = await run('Create', { group: 'joiner:none' });
    expect(refused.status).toBe('FAILED');
    expect(refused.reason).toContain('the installer is not its admin');
  });

  it('takes its rights away when the stack goes, and leaves definitions', async () => {
    const outcome = await run('Delete', { group: 'joiner:install' });
    expect(outcome.status, outcome.reason).toBe('SUCCESS');
    expect(outcome.reason).toContain('removed: ');
    // Its own bindings are for the garbage collector, which is told by their owner.
    await expect.poll(rightsLeft).toEqual([]);
    expect(property(await definition('nodepools.karpenter.sh'), 'spec')).toBeDefined();
    expect((await run('Delete')).status).toBe('SUCCESS');
  });
});

const OF_YESTERDAY = { apiGroups: ['apps'], resources: ['deployments'], verbs: ['watch'] };

function ourRole(name: string): unknown {
  return manifests().find(
    (each) =>
      property(each, 'kind') === 'ClusterRole' &&
      property(property(each, 'metadata'), 'name') === name,
  );
}

/** The definition with one field more in its spec, and perhaps one less. */
function withField(crd: object, added: string, removed?: string): object {
  const copy: unknown = structuredClone(crd);
  const versions = property(property(copy, 'spec'), 'versions');
  for (const version of Array.isArray(versions) ? versions : []) {
    const schema = property(property(version, 'schema'), 'openAPIV3Schema');
    const spec = property(property(schema, 'properties'), 'spec');
    const fields = Object(property(spec, 'properties'));
    Reflect.set(fields, added, { type: 'string' });
    if (removed === undefined) continue;
    Reflect.deleteProperty(fields, removed);
    // Rules may not speak of a field that is not there.
    Reflect.deleteProperty(Object(spec), 'x-kubernetes-validations');
  }
  return Object(copy);
}
