import { describe, expect, it } from 'vitest';
import type { InstallCloud } from '../../../functions/install/cloud.ts';
import { type InstallPorts, install } from '../../../functions/install/install.ts';
import type { ClusterAccess } from '../../../shared/aws/cluster-access.ts';
import { KubeClient } from '../../../shared/kube/client.ts';
import { systemTiming } from '../../../shared/kube/time.ts';

const FACTS: ClusterAccess = {
  status: 'ACTIVE',
  authenticationMode: 'API',
  endpoint: 'https://127.0.0.1',
  caPem: '',
  isPublic: true,
  publicCidrs: ['0.0.0.0/0'],
  isPrivate: true,
  isAutoMode: false,
};

const MINUTE_MS = 60_000;

interface Change {
  readonly facts?: ClusterAccess | undefined;
  readonly cloud?: Partial<InstallCloud>;
  readonly statuses?: readonly number[];
}

/** Ports of a world where the cluster is fine and there is nothing to connect to. */
function world(change: Change = {}) {
  const answers: unknown[] = [];
  const removed: string[] = [];
  const statuses = [...(change.statuses ?? [])];
  const ports: InstallPorts = {
    region: 'eu-west-1',
    cloud: {
      describeCluster: async () => ('facts' in change ? change.facts : FACTS),
      removeObjects: async (bucket, prefix, isOurs) => {
        const keys = ['shared/eu-west-1/prices/demo.json', 'shared/eu-west-1/prices/other.json'];
        removed.push(`${bucket}/${prefix}`, ...keys.filter((key) => prefix !== '' && isOurs(key)));
        return 1;
      },
      wake: async () => {},
      dropAccess: async () => {},
      ...change.cloud,
    },
    connect: () => {
      throw new Error('no route to the cluster');
    },
    manifests: [],
    put: async (url, body) => {
      answers.push({ url, ...JSON.parse(body) });
      return { status: statuses.shift() ?? 200 };
    },
    sleep: async () => {},
    log: () => {},
  };
  return { ports, answers, removed };
}

/** A cluster that has nothing yet, and whose admin the caller is or is not. */
function emptyCluster(isAdmin: boolean): KubeClient {
  const answer = (status: number, object: object) => ({
    status,
    header: () => 'application/json',
    cancel: () => {},
    body: (async function* () {
      yield Buffer.from(JSON.stringify(object));
    })(),
  });
  return new KubeClient({
    transport: {
      send: async ({ path }) =>
        path.endsWith('selfsubjectaccessreviews')
          ? answer(201, { status: { allowed: isAdmin } })
          : answer(404, { kind: 'Status', reason: 'NotFound', code: 404 }),
      close: async () => {},
    },
    tokens: undefined,
    timing: systemTiming,
    name: 'joiner-test',
    version: '1',
  });
}

function request(type: string, step: string, properties: object = {}): object {
  return {
    RequestType: type,
    ResponseURL: 'https://answers.example.com/answer',
    StackId: 'stack',
    RequestId: 'request',
    LogicalResourceId: 'Apply',
    ResourceProperties: { Step: step, Cluster: 'demo', ...properties },
  };
}

describe('the answer', () => {
  it('names the resource by an id that never changes', async () => {
    const { ports, answers } = world();
    await install(ports, request('Create', 'check'), MINUTE_MS);
    const again = { ...request('Update', 'check'), PhysicalResourceId: 'joiner-Apply' };
    await install(ports, again, MINUTE_MS);
    const expected = {
      url: 'https://answers.example.com/answer',
      Status: 'SUCCESS',
      Reason: 'the cluster can be installed on',
      PhysicalResourceId: 'joiner-Apply',
      StackId: 'stack',
      RequestId: 'request',
      LogicalResourceId: 'Apply',
    };
    expect(answers).toEqual([expected, expected]);
  });

  it('is sent again when it is not taken', async () => {
    const { ports, answers } = world({ statuses: [503, 500] });
    await install(ports, request('Create', 'check'), MINUTE_MS);
    expect(answers).toHaveLength(3);
  });

  it('fails the run when it is never taken, so that Lambda runs it again', async () => {
    const { ports } = world({ statuses: [403, 403, 403, 403] });
    const running = install(ports, request('Create', 'check'), MINUTE_MS);
    await expect(running).rejects.toThrow('did not take the answer: HTTP 403');
  });

  it('leaves before Lambda ends the run', async () => {
    const { ports, answers } = world({
      cloud: { describeCluster: () => new Promise(() => undefined) },
    });
    await install(ports, request('Create', 'check'), 15_010);
    expect(answers).toMatchObject([{ Status: 'FAILED' }]);
    expect(JSON.stringify(answers)).toContain("reach the cluster's endpoint");
  });

  it('fails a request that makes no sense', async () => {
    const { ports, answers } = world();
    await install(ports, request('Create', 'dance'), MINUTE_MS);
    expect(answers).toMatchObject([{ Status: 'FAILED' }]);
    expect(JSON.stringify(answers)).toContain(
      'valid are Create, Update, Delete, check, roles, apply',
    );
  });

  it('is not sent when nobody asks', async () => {
    const { ports, answers } = world();
    await expect(install(ports, {}, MINUTE_MS)).rejects.toThrow('no ResponseURL');
    expect(answers).toEqual([]);
  });
});

describe('the check of the cluster', () => {
  const rows: readonly (readonly [string, ClusterAccess | undefined, string, string])[] = [
    ['an absent cluster', undefined, 'public', 'there is no EKS cluster "demo" in eu-west-1'],
    ['one that is being made', { ...FACTS, status: 'CREATING' }, 'public', 'is CREATING'],
    [
      'aws-auth only',
      { ...FACTS, authenticationMode: 'CONFIG_MAP' },
      'public',
      'aws eks update-cluster-config --name demo --region eu-west-1 ' +
        '--access-config authenticationMode=API_AND_CONFIG_MAP',
    ],
    ['no public endpoint', { ...FACTS, isPublic: false }, 'public', '-c endpoint=private'],
    [
      'an endpoint for some addresses only',
      { ...FACTS, publicCidrs: ['192.0.2.0/24'] },
      'public',
      '--resources-vpc-config endpointPublicAccess=true,publicAccessCidrs=0.0.0.0/0',
    ],
    ['no private endpoint', { ...FACTS, isPrivate: false }, 'private', '-c endpoint=public'],
  ];

  it.each(rows)('refuses %s and says what to do', async (_, facts, endpoint, message) => {
    const { ports, answers } = world({ facts });
    await install(ports, request('Create', 'check', { Endpoint: endpoint }), MINUTE_MS);
    expect(answers).toMatchObject([{ Status: 'FAILED', Reason: expect.stringContaining(message) }]);
  });

  it('does not mind whom the public endpoint lets in where the functions are inside', async () => {
    const facts = { ...FACTS, publicCidrs: ['192.0.2.0/24'] };
    const { ports, answers } = world({ facts });
    await install(ports, request('Create', 'check', { Endpoint: 'private' }), MINUTE_MS);
    expect(answers).toMatchObject([{ Status: 'SUCCESS' }]);
  });

  it.each(['API', 'API_AND_CONFIG_MAP'])('takes %s', async (authenticationMode) => {
    const { ports, answers } = world({ facts: { ...FACTS, authenticationMode } });
    await install(ports, request('Update', 'check'), MINUTE_MS);
    expect(answers).toMatchObject([{ Status: 'SUCCESS' }]);
  });
});

describe('another endpoint', () => {
  const closed = { ...FACTS, isPublic: false };
  const change = (step: string, from: string, to: string): object => ({
    ...request('Update', step, { Endpoint: to }),
    OldResourceProperties: { Step: step, Cluster: 'demo', Endpoint: from },
  });

  it('a rollback goes back to a public one that is closed by now', async () => {
    const { ports, answers } = world({ facts: closed });
    await install(ports, change('check', 'private', 'public'), MINUTE_MS);
    expect(answers).toMatchObject([{ Status: 'SUCCESS' }]);
  });

  it('a deployment with one that is closed is refused before it is done', async () => {
    const { ports, answers } = world({ facts: closed });
    await install(ports, change('settle', 'private', 'public'), MINUTE_MS);
    const message = 'the endpoint of the cluster demo is private: deploy with -c endpoint=private';
    expect(answers).toMatchObject([{ Status: 'FAILED', Reason: expect.stringContaining(message) }]);
  });
});

describe('what is there has to do', () => {
  const manifests = [
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'nodepools.karpenter.sh' },
    },
  ];

  it.each([
    ['where the installer is no admin', { Admin: 'false' }, false, 'joiner export manifests && '],
    ['where others apply CRDs', { Admin: 'true', Crds: 'checked' }, true, 'joiner crds | kubectl'],
  ])('%s, else the reason has a command of the package', async (_, given, allowed, command) => {
    const { ports, answers } = world();
    const connect = () => emptyCluster(allowed);
    await install({ ...ports, connect, manifests }, request('Create', 'apply', given), MINUTE_MS);
    const reason = expect.stringContaining('nodepools.karpenter.sh is absent. ');
    expect(answers).toMatchObject([{ Status: 'FAILED', Reason: reason }]);
    expect(JSON.stringify(answers)).toContain(command);
  });
});

describe('when the stack goes', () => {
  it('rights that cannot be removed are named with the command that removes them', async () => {
    const rbac = 'rbac.authorization.k8s.io/v1';
    const manifests = [
      { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: {} },
      { apiVersion: rbac, kind: 'ClusterRole', metadata: { name: 'joiner' } },
      {
        apiVersion: rbac,
        kind: 'RoleBinding',
        metadata: { name: 'dns', namespace: 'kube-system' },
      },
    ];
    const { ports, answers } = world();
    await install({ ...ports, manifests }, request('Delete', 'apply'), MINUTE_MS);
    const [answer] = answers;
    expect(answer).toMatchObject({ Status: 'SUCCESS' });
    expect(Object(answer).Reason).toContain(
      'kubectl delete --ignore-not-found clusterrole/joiner && ' +
        'kubectl -n kube-system delete --ignore-not-found rolebinding/dns',
    );
    expect(Object(answer).Reason).not.toContain('customresourcedefinition');
  });

  it('a cluster that cannot be reached keeps nothing from going', async () => {
    const { ports, answers } = world();
    await install(ports, request('Delete', 'apply'), MINUTE_MS);
    const reason = expect.stringMatching(
      /^rights are left behind, .* why: no route to the cluster$/,
    );
    expect(answers).toMatchObject([{ Status: 'SUCCESS', Reason: reason }]);
  });

  it('a cluster that is gone is fine', async () => {
    const { ports, answers } = world({ facts: undefined });
    await install(ports, request('Delete', 'apply'), MINUTE_MS);
    expect(answers).toMatchObject([{ Status: 'SUCCESS', Reason: 'the cluster is gone' }]);
  });

  it('a bucket of its own is emptied', async () => {
    const { ports, removed } = world();
    const properties = { Bucket: 'memory', Extent: 'all' };
    await install(ports, request('Delete', 'data', properties), MINUTE_MS);
    expect(removed).toEqual(['memory/']);
  });

  it('of a shared bucket only what is of this cluster goes', async () => {
    const { ports, removed } = world();
    const properties = { Bucket: 'memory', Extent: 'own' };
    await install(ports, request('Delete', 'data', properties), MINUTE_MS);
    expect(removed).toContain('memory/clusters/demo/');
    const [, ...shared] = removed.slice(removed.indexOf('memory/shared/eu-west-1/'));
    expect(shared).toEqual(['shared/eu-west-1/prices/demo.json']);
  });

  it('data that cannot be removed fail the deletion', async () => {
    const removeObjects = async (): Promise<number> => {
      throw new Error('AccessDenied');
    };
    const { ports, answers } = world({ cloud: { removeObjects } });
    await install(ports, request('Delete', 'data', { Bucket: 'memory' }), MINUTE_MS);
    expect(answers).toMatchObject([{ Status: 'FAILED', Reason: 'Joiner: AccessDenied' }]);
  });

  it('nothing is removed while it stands', async () => {
    const { ports, removed } = world();
    await install(ports, request('Update', 'data', { Bucket: 'memory' }), MINUTE_MS);
    expect(removed).toEqual([]);
  });
});
