import { afterAll, beforeAll, expect, it } from 'vitest';
import { kindDecoders } from '../../shared/api/kinds.ts';
import { RESOURCES, type Resource } from '../../shared/api/resources.ts';
import { CLUSTER_FUNCTIONS, type FunctionName, kubernetesGroup } from '../../shared/contract.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { kubeCluster } from '../../shared/kube/cluster.ts';
import { isKubeFault } from '../../shared/kube/errors.ts';
import { property } from '../../shared/kube/list.ts';
import { resourcePath } from '../../shared/kube/resource-paths.ts';
import { eksTokenSource, type TokenSource } from '../../shared/kube/token.ts';
import { ensureNamespace } from '../contract/kube-objects.ts';
import { accessKeyOf } from '../support/closed-loop/functions.ts';
import { applyManifests, applyRights, readManifests } from '../support/control-plane/manifests.ts';
import { clientOf, describeWithControlPlane } from '../support/control-plane/suite.ts';
import { startTokenWebhook, type TokenWebhook } from '../support/control-plane/token-webhook.ts';

const CLUSTER = 'demo';
const REGION = 'eu-west-1';
const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'a-secret-of-the-test' };

const tokens = (
  name: FunctionName,
  change: { cluster?: string; secretAccessKey?: string } = {},
): TokenSource =>
  eksTokenSource({
    cluster: change.cluster ?? CLUSTER,
    region: REGION,
    credentials: async () => ({ ...KEYS, accessKeyId: accessKeyOf(name), ...change }),
    nowMs: () => Date.now(),
  });

let webhook: TokenWebhook | undefined;
beforeAll(async () => {
  const known = CLUSTER_FUNCTIONS.map((name) => ({
    ...KEYS,
    accessKeyId: accessKeyOf(name),
    username: `joiner-${name}`,
    groups: [kubernetesGroup(name)],
  }));
  webhook = await startTokenWebhook(CLUSTER, REGION, known);
});
afterAll(async () => {
  await webhook?.close();
});

/** Group, resource (perhaps with a subresource), verb, and where. */
type Rule = readonly [resource: Resource, verb: string, more?: RuleScope];
interface RuleScope {
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

const IN_SYSTEM = { namespace: 'kube-system' };
const PAUSES = { ...IN_SYSTEM, name: 'joiner' };
const FLOW_SCHEMAS = 'infra/flow-control/flow-schemas.yaml';

const WRITERS = ['provision', 'lifecycle', 'disrupt', 'interrupt', 'nodeclass'] as const;
const PLANNERS = ['provision', 'lifecycle', 'disrupt', 'nodeclass'] as const;

/** What functions may, and which: the others may not. */
const ALLOWED: readonly (readonly [Rule, readonly FunctionName[]])[] = [
  [
    [RESOURCES.nodeClaims, 'create'],
    ['provision', 'disrupt'],
  ],
  [[RESOURCES.nodeClaims, 'delete'], WRITERS.filter((name) => name !== 'nodeclass')],
  [
    [RESOURCES.nodeClaims, 'patch', { subresource: 'status' }],
    ['provision', 'lifecycle', 'disrupt'],
  ],
  [
    [RESOURCES.nodePools, 'patch', { subresource: 'status' }],
    ['provision', 'disrupt'],
  ],
  [
    [RESOURCES.nodePools, 'patch'],
    ['provision', 'disrupt', 'interrupt'],
  ],
  [[RESOURCES.nodeOverlays, 'patch', { subresource: 'status' }], ['provision']],
  [[RESOURCES.nodeClasses, 'patch', { subresource: 'status' }], ['nodeclass']],
  [[RESOURCES.capacityBuffers, 'patch', { subresource: 'status' }], ['provision']],
  [
    [RESOURCES.nodes, 'patch'],
    ['provision', 'lifecycle', 'disrupt'],
  ],
  [[RESOURCES.nodes, 'delete'], ['lifecycle']],
  [[RESOURCES.pods, 'create', { subresource: 'eviction' }], ['lifecycle']],
  [[RESOURCES.pods, 'delete'], ['lifecycle']],
  [
    [RESOURCES.pods, 'watch'],
    ['watch', ...PLANNERS, 'metrics'],
  ],
  [[RESOURCES.events, 'create'], WRITERS],
  [
    [RESOURCES.leases, 'patch', { ...IN_SYSTEM, name: 'joiner-decide' }],
    ['provision', 'disrupt'],
  ],
  [[RESOURCES.leases, 'patch', { ...IN_SYSTEM, name: 'joiner-launch' }], ['provision']],
  [[RESOURCES.leases, 'patch', { ...IN_SYSTEM, name: 'joiner-watch' }], ['watch']],
  [
    [RESOURCES.leases, 'list', { name: 'karpenter-leader-election' }],
    [...WRITERS, 'install', 'shadow'],
  ],
  [
    [RESOURCES.configMaps, 'get', { ...IN_SYSTEM, name: 'joiner' }],
    [...PLANNERS, 'shadow'],
  ],
  [[RESOURCES.configMaps, 'patch', { ...IN_SYSTEM, name: 'joiner-settings' }], ['install']],
  [[RESOURCES.clusterRoles, 'delete', { name: 'joiner:lifecycle' }], ['install']],
];

const SECRETS: Resource = { ...RESOURCES.configMaps, plural: 'secrets', kind: 'Secret' };

const FORBIDDEN: readonly Rule[] = [
  [SECRETS, 'get', IN_SYSTEM],
  [SECRETS, 'list'],
  [RESOURCES.configMaps, 'get', { ...IN_SYSTEM, name: 'aws-auth' }],
  [RESOURCES.configMaps, 'list'],
  [RESOURCES.pods, 'create'],
  [RESOURCES.pods, 'patch'],
  [RESOURCES.pods, 'create', { subresource: 'exec' }],
  [RESOURCES.pods, 'get', { subresource: 'log' }],
  [RESOURCES.nodes, 'create'],
  [RESOURCES.nodes, 'patch', { subresource: 'status' }],
  [RESOURCES.nodes, 'get', { subresource: 'proxy' }],
  [RESOURCES.nodePools, 'create'],
  [RESOURCES.nodePools, 'delete'],
  [RESOURCES.nodeOverlays, 'patch'],
  [RESOURCES.nodeClasses, 'delete'],
  [RESOURCES.deployments, 'patch'],
  [RESOURCES.podDisruptionBudgets, 'delete'],
  [RESOURCES.leases, 'patch', { ...IN_SYSTEM, name: 'kube-scheduler' }],
  [RESOURCES.leases, 'delete', { ...IN_SYSTEM, name: 'joiner-decide' }],
  [RESOURCES.leases, 'patch', { ...IN_SYSTEM, name: 'joiner-provision' }],
  [RESOURCES.services, 'get', { ...IN_SYSTEM, name: 'kube-dns' }],
  [RESOURCES.customResourceDefinitions, 'patch'],
  [RESOURCES.customResourceDefinitions, 'patch', { name: 'nodepools.karpenter.sh' }],
  [RESOURCES.clusterRoles, 'patch'],
  [RESOURCES.clusterRoles, 'patch', { name: 'joiner:install' }],
  [RESOURCES.clusterRoles, 'escalate', { name: 'joiner:install' }],
  [RESOURCES.clusterRoles, 'bind', { name: 'cluster-admin' }],
  [RESOURCES.clusterRoleBindings, 'patch', { name: 'joiner:install' }],
  [RESOURCES.clusterRoleBindings, 'create'],
  [RESOURCES.flowSchemas, 'patch', { name: 'joiner' }],
];

const PRIORITY_LEVELS: Resource = {
  ...RESOURCES.flowSchemas,
  plural: 'prioritylevelconfigurations',
  kind: 'PriorityLevelConfiguration',
};
const LEASE_PATH = resourcePath(RESOURCES.leases, { ...IN_SYSTEM, name: 'joiner-decide' });
const KARPENTER_LEASE_PATH = `${resourcePath(RESOURCES.leases)}?fieldSelector=metadata.name%3Dkarpenter-leader-election`;
const OWN_ROLE_PATH = resourcePath(RESOURCES.clusterRoles, { name: 'joiner:install' });

/** By which schema the API server queued a request, and at which level. */
async function queueOf(client: KubeClient, path: string) {
  const call = { asked: { verb: 'get', resource: path }, method: 'GET', path } as const;
  const response = await client.open(call);
  await client.bytes(call, response);
  return ['flowschema', 'prioritylevel'].map((each) =>
    response.header(`x-kubernetes-pf-${each}-uid`),
  );
}

async function isAllowed(client: KubeClient, [resource, verb, scope]: Rule): Promise<boolean> {
  const { group, plural } = resource;
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { group, resource: plural, verb, ...scope } },
  };
  const answer = await client.json({
    asked: { verb: 'create', resource: 'selfsubjectaccessreviews' },
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: review,
  });
  return property(property(answer, 'status'), 'allowed') === true;
}

await describeWithControlPlane(
  'a function’s access to the cluster, token and permissions',
  ({ admin, plane }) => {
    const clients = new Map<FunctionName, KubeClient>();
    const as = (name: FunctionName): KubeClient => {
      const known = clients.get(name) ?? clientOf(plane(), `joiner-${name}`, tokens(name));
      clients.set(name, known);
      return known;
    };
    beforeAll(async () => {
      await ensureNamespace(admin(), 'kube-system');
      await applyRights(admin());
      await applyManifests(admin(), await readManifests(FLOW_SCHEMAS));
      const lease = { metadata: { ...IN_SYSTEM, name: 'joiner-decide' } };
      await admin().create(RESOURCES.leases, lease, IN_SYSTEM.namespace);
    });
    afterAll(async () => {
      for (const each of clients.values()) await each.close();
    });

    it.each(CLUSTER_FUNCTIONS)('%s has a group of its own', async (name) => {
      // Rights are effective a moment after they were applied.
      const rule: Rule = [RESOURCES.nodeClaims, 'list'];
      await expect.poll(() => isAllowed(as(name), rule)).toBe(true);
    });

    it('is granted by a token made as EKS wants it', async () => {
      await as('provision')
        .get(RESOURCES.configMaps, PAUSES)
        .catch(() => undefined);
      expect(webhook?.lastRefusal()).toBeUndefined();
      const review = await as('provision').json({
        asked: { verb: 'create', resource: 'selfsubjectreviews' },
        method: 'POST',
        path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      });
      const user = property(property(review, 'status'), 'userInfo');
      expect(property(user, 'username')).toBe('joiner-provision');
    });

    it.each([
      ['another cluster', { cluster: 'other' }],
      ['another secret key', { secretAccessKey: 'wrong' }],
    ])('is refused to a token for %s', async (_, change) => {
      const wrong = clientOf(plane(), 'joiner-provision', tokens('provision', change));
      const reading = wrong.get(RESOURCES.nodes, { name: 'any' });
      await expect(reading).rejects.toSatisfy((error) => isKubeFault(error, 'unauthorised'));
      expect(webhook?.lastRefusal()).toBe('the signature does not match');
      await wrong.close();
    });

    it.each(ALLOWED.map(([rule, names]) => [describeRule(rule), names, rule] as const))(
      '%s: only %j may',
      async (_, names, rule) => {
        const may: FunctionName[] = [];
        for (const name of CLUSTER_FUNCTIONS) {
          if (await isAllowed(as(name), rule)) may.push(name);
        }
        expect(may.toSorted()).toEqual(names.toSorted());
      },
    );

    it.each(FORBIDDEN.map((rule) => [describeRule(rule), rule] as const))(
      '%s: nobody may',
      async (_, rule) => {
        for (const name of CLUSTER_FUNCTIONS) {
          expect(await isAllowed(as(name), rule), name).toBe(false);
        }
      },
    );

    it('is refused with an error that names the verb and the resource', async () => {
      const reading = as('provision').get(SECRETS, { namespace: 'kube-system', name: 'any' });
      await expect(reading).rejects.toMatchObject({
        kind: 'unauthorised',
        fault: { kind: 'forbidden', verb: 'get', resource: 'secrets/kube-system/any' },
      });
    });

    it('is refused where a function tries what is another’s', async () => {
      const namespace = 'kube-system';
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'any' } };
      const pod = { namespace, name: 'any' };
      const evicting = as('disrupt').createBelow(RESOURCES.pods, pod, 'eviction', eviction);
      await expect(evicting).rejects.toMatchObject({ fault: { kind: 'forbidden' } });
      // Whoever may gets as far as the pod.
      const own = as('lifecycle').createBelow(RESOURCES.pods, pod, 'eviction', eviction);
      await expect(own).rejects.toMatchObject({ fault: { kind: 'notFound' } });
      const lease = { namespace, name: 'joiner-launch' };
      const value = { spec: { holderIdentity: 'a stranger' } };
      const taking = as('disrupt').patch(RESOURCES.leases, lease, { kind: 'merge', value });
      await expect(taking).rejects.toMatchObject({ fault: { kind: 'forbidden' } });
    });

    it.each([
      ['provision', LEASE_PATH, 'joiner-leases', 'leader-election'],
      ['provision', resourcePath(RESOURCES.nodes), 'joiner', 'workload-high'],
      ['interrupt', KARPENTER_LEASE_PATH, 'joiner', 'workload-high'],
      ['install', OWN_ROLE_PATH, 'joiner', 'workload-high'],
    ] as const)('of %s to %s waits in the queue of %s', async (name, path, schema, level) => {
      const uidOf = async (resource: Resource, named: string): Promise<unknown> =>
        property(property(await admin().get(resource, { name: named }), 'metadata'), 'uid');
      const wanted = [
        await uidOf(RESOURCES.flowSchemas, schema),
        await uidOf(PRIORITY_LEVELS, level),
      ];
      // The API server takes new schemas in after a moment.
      await expect.poll(() => queueOf(as(name), path)).toEqual(wanted);
    });

    it('takes a pod of the same name for gone, without a look at it', async () => {
      const namespace = 'kube-system';
      const spec = { containers: [{ name: 'a', image: 'a' }] };
      await admin().create(RESOURCES.pods, { metadata: { name: 'again' }, spec }, namespace);
      const cluster = kubeCluster({
        client: as('lifecycle'),
        decoders: kindDecoders('server'),
        onInvalid: () => undefined,
      });
      const before = { kind: 'Pod', namespace, name: 'again', uid: 'of-the-one-before' } as const;
      expect(await cluster.deletePod(before, 0)).toBe('gone');
      expect(await admin().get(RESOURCES.pods, { namespace, name: 'again' })).toBeDefined();
    });
  },
  () => ({
    controllers: false,
    priorityAndFairness: true,
    ...(webhook === undefined ? {} : { tokenWebhookUrl: webhook.url }),
  }),
);

function describeRule([resource, verb, scope]: Rule): string {
  const { subresource, ...address } = scope ?? {};
  return `${verb} ${resourcePath(resource, address, subresource)}`;
}
