import { afterAll, beforeAll, expect, it } from 'vitest';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeFault } from '../../shared/kube/errors.ts';
import { property } from '../../shared/kube/list.ts';
import { RESOURCES, type Resource, resourcePath } from '../../shared/kube/resources.ts';
import { eksTokenSource, type TokenSource } from '../../shared/kube/token.ts';
import { ensureNamespace } from '../contract/kube-objects.ts';
import { applyManifests, readManifests } from '../support/control-plane/manifests.ts';
import { clientOf, describeWithControlPlane } from '../support/control-plane/suite.ts';
import { startTokenWebhook, type TokenWebhook } from '../support/control-plane/token-webhook.ts';

const CLUSTER = 'demo';
const REGION = 'eu-west-1';
const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'a-secret-of-the-test' };

const tokens = (change: { cluster?: string; secretAccessKey?: string } = {}): TokenSource =>
  eksTokenSource({
    cluster: change.cluster ?? CLUSTER,
    region: REGION,
    credentials: async () => ({ ...KEYS, ...change }),
    nowMs: () => Date.now(),
  });

let webhook: TokenWebhook | undefined;
beforeAll(async () => {
  const known = { ...KEYS, username: 'joiner-provision', groups: ['joiner:controller'] };
  webhook = await startTokenWebhook(CLUSTER, REGION, [known]);
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

const ALLOWED: readonly Rule[] = [
  [RESOURCES.nodeClaims, 'create'],
  [RESOURCES.nodeClaims, 'delete'],
  [RESOURCES.nodeClaims, 'patch', { subresource: 'status' }],
  [RESOURCES.nodePools, 'patch', { subresource: 'status' }],
  [RESOURCES.nodeOverlays, 'patch', { subresource: 'status' }],
  [RESOURCES.nodeClasses, 'patch', { subresource: 'status' }],
  [RESOURCES.capacityBuffers, 'patch', { subresource: 'status' }],
  [RESOURCES.nodes, 'patch'],
  [RESOURCES.nodes, 'delete'],
  [RESOURCES.pods, 'create', { subresource: 'eviction' }],
  [RESOURCES.pods, 'delete'],
  [RESOURCES.pods, 'watch'],
  [RESOURCES.events, 'create'],
  [RESOURCES.leases, 'patch', { ...IN_SYSTEM, name: 'joiner-decide' }],
  [RESOURCES.configMaps, 'get', { ...IN_SYSTEM, name: 'joiner' }],
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
  [RESOURCES.clusterRoles, 'patch'],
];

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
    let joiner: KubeClient | undefined;
    const client = (): KubeClient => {
      joiner ??= clientOf(plane(), 'joiner-provision', tokens());
      return joiner;
    };
    beforeAll(async () => {
      await ensureNamespace(admin(), 'kube-system');
      await applyManifests(admin(), await readManifests('infra/rbac/controller.yaml'));
    });
    afterAll(async () => {
      await joiner?.close();
    });

    it('is granted by a token made as EKS wants it', async () => {
      // The role is effective a moment after it was applied.
      await expect.poll(() => isAllowed(client(), [RESOURCES.nodes, 'list'])).toBe(true);
      expect(webhook?.lastRefusal()).toBeUndefined();
      const review = await client().json({
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
      const wrong = clientOf(plane(), 'joiner-provision', tokens(change));
      const reading = wrong.get(RESOURCES.nodes, { name: 'any' });
      await expect(reading).rejects.toSatisfy((error) => isKubeFault(error, 'unauthorised'));
      expect(webhook?.lastRefusal()).toBe('the signature does not match');
      await wrong.close();
    });

    it.each(ALLOWED.map((rule) => [describeRule(rule), rule] as const))(
      'may %s',
      async (_, rule) => {
        expect(await isAllowed(client(), rule)).toBe(true);
      },
    );

    it.each(FORBIDDEN.map((rule) => [describeRule(rule), rule] as const))(
      'may not %s',
      async (_, rule) => {
        expect(await isAllowed(client(), rule)).toBe(false);
      },
    );

    it('is refused with an error that names the verb and the resource', async () => {
      const reading = client().get(SECRETS, { namespace: 'kube-system', name: 'any' });
      await expect(reading).rejects.toMatchObject({
        kind: 'unauthorised',
        fault: { kind: 'forbidden', verb: 'get', resource: 'secrets/kube-system/any' },
      });
    });
  },
  () => ({
    controllers: false,
    ...(webhook === undefined ? {} : { tokenWebhookUrl: webhook.url }),
  }),
);

function describeRule([resource, verb, scope]: Rule): string {
  const { subresource, ...address } = scope ?? {};
  return `${verb} ${resourcePath(resource, address, subresource)}`;
}
