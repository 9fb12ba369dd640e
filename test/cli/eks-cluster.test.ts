import { describe, expect, it } from 'vitest';
import { eksCluster } from '../../cli/simulate/eks-cluster.ts';
import { DEPLOYMENT, NODE_CLASS, NODE_POOL } from './manifests.ts';
import { inFolder, joiner } from './run.ts';

const OPEN = NODE_POOL.replace(/ {6}taints:[\s\S]*?NoSchedule\n/, '');
const AWS_NODE = `apiVersion: apps/v1
kind: DaemonSet
metadata: { name: aws-node, namespace: kube-system }
spec:
  selector: { matchLabels: { app: own } }
  template:
    metadata: { labels: { app: own } }
    spec: { containers: [{ name: own, image: own, resources: { requests: { cpu: 300m } } }] }
`;

async function simulated(pool: string, more: string, ...options: readonly string[]) {
  const world = [NODE_CLASS, pool, DEPLOYMENT, more].filter((each) => each !== '').join('---\n');
  return await inFolder({ 'world.yaml': world }, async (folder) => {
    const args = ['simulate', folder, '--duration', '5m', '-o', 'json', ...options];
    const { exitCode, stdout, stderr } = await joiner(...args);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    return { state: JSON.parse(stdout), stderr };
  });
}

/** Pods of Joiner's nodes, by the names of their workloads. */
function podsOn({ nodeClaims }: { readonly nodeClaims: readonly { pods: string[] }[] }) {
  return nodeClaims.flatMap(({ pods }) => pods.map((each) => each.replace(/-[^/]*$/, '')));
}

const CLAIM = `apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: data }
spec: { storageClassName: gp3, accessModes: [ReadWriteOnce] }
`;
const CLASS = `apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: { name: gp3 }
provisioner: ebs.csi.aws.com
`;

describe('the simulated cluster', () => {
  it('a bare one says which StorageClasses of claims it leaves out', async () => {
    const note = 'claims name the StorageClass gp3, which --bare leaves out';
    expect((await simulated(OPEN, CLAIM, '--bare')).stderr).toContain(note);
    expect((await simulated(OPEN, `${CLAIM}---\n${CLASS}`, '--bare')).stderr).not.toContain(note);
    expect((await simulated(OPEN, CLAIM)).stderr).not.toContain(note);
  });

  it('runs what every EKS cluster runs, and counts what its DaemonSets request', async () => {
    const { state } = await simulated(OPEN, '');
    expect(podsOn(state)).toEqual(expect.arrayContaining(['kube-system/coredns']));
    const bare = await simulated(OPEN, '', '--bare');
    expect(podsOn(bare.state)).not.toContain('kube-system/coredns');
    expect(state.pods.running).toBeGreaterThan(bare.state.pods.running + 2);
    expect(state.pods.pending).toEqual([]);
  });

  it('takes CoreDNS to run elsewhere where no NodePool takes it, and says so', async () => {
    const { state, stderr } = await simulated(NODE_POOL, '');
    expect(podsOn(state)).not.toContain('kube-system/coredns');
    expect(state.pods.pending.map(({ pod }: { pod: string }) => pod)).not.toContain('coredns');
    expect(stderr).toContain('joiner: CoreDNS is taken to run on other nodes');
  });

  it("has the manifests' own object where they have one of the name", () => {
    const own = { apiVersion: 'apps/v1', kind: 'DaemonSet' };
    const given = { ...own, metadata: { name: 'aws-node', namespace: 'kube-system' } };
    const names = eksCluster([given]).objects.map(({ metadata }) => JSON.stringify(metadata));
    expect(names.filter((each) => each.includes('aws-node'))).toEqual([]);
    expect(names.filter((each) => each.includes('kube-proxy'))).toHaveLength(1);
  });

  it('has one default StorageClass', () => {
    const classes = eksCluster([]).objects.filter(({ kind }) => kind === 'StorageClass');
    expect(classes.filter((each) => JSON.stringify(each).includes('is-default'))).toHaveLength(1);
  });

  it('takes an own aws-node from a manifest', async () => {
    const { stderr } = await simulated(OPEN, AWS_NODE);
    expect(stderr).not.toContain('the last of the same object counts');
  });
});

describe('joiner simulate --settings', () => {
  const run = (settings: string) =>
    inFolder({ 'world.yaml': [NODE_CLASS, OPEN].join('---\n'), settings }, (folder) =>
      joiner(
        'simulate',
        `${folder}/world.yaml`,
        '--duration',
        '1m',
        '--settings',
        `${folder}/settings`,
      ),
    );
  const configMap = 'kind: ConfigMap\ndata:\n  FEATURE_GATES: CapacityBuffer=false\n';

  it.each([
    ['a map by the names of props', 'nodePrice: 0.05\nfeatureGates: { StaticCapacity: false }\n'],
    ['the ConfigMap of the stack', configMap],
    ['nothing', ''],
  ])('takes %s', async (_, settings) => {
    expect(await run(settings)).toMatchObject({ exitCode: 0 });
  });

  it.each([
    [
      'nodeprice: 1\n',
      'nodeprice is not a setting (did you mean nodePrice?); valid: featureGates, ',
    ],
    ['a: 1\nnodePrice: dear\n', 'a is not a setting'],
    ['\nnodePrice: dear\n', ':2: nodePrice must be a number from 0 to 1000, not "dear"'],
    ['featureGates: { NodeRepair: perhaps }\n', ':1: featureGates NodeRepair must be true or'],
    [configMap.replace('=false', '=no'), ':3: data.FEATURE_GATES CapacityBuffer must be'],
    ['- nodePrice\n', 'expected one map'],
    ['{\n', 'Flow map'],
  ])('refuses %j', async (settings, says) => {
    const { exitCode, stdout, stderr } = await run(settings);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(says);
  });

  it('refuses a file that is not there', async () => {
    const { exitCode, stderr } = await joiner('simulate', '/absent', '--settings', '/absent.yaml');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('/absent.yaml: cannot be read');
  });
});
