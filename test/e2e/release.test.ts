import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RESOURCES, type Resource } from '../../shared/api/resources.ts';
import { TERMINATION_FINALIZER } from '../../shared/core/lifecycle/actions.ts';
import { isKubeFault } from '../../shared/kube/errors.ts';
import { kubeLeases } from '../../shared/kube/leases.ts';
import { property } from '../../shared/kube/list.ts';
import { joiner } from '../cli/run.ts';
import { ensureNamespace } from '../contract/kube-objects.ts';
import { establishCrds, ourCrds } from '../support/control-plane/crds.ts';
import { writeKubeconfig } from '../support/control-plane/kubeconfig.ts';
import { describeWithControlPlane } from '../support/control-plane/suite.ts';

const CLASS_FINALIZER = 'karpenter.k8s.aws/termination';
const OTHER_FINALIZER = 'example.com/backup';
const REQUIREMENTS = [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] }];

await describeWithControlPlane(
  'joiner release',
  ({ admin, plane }) => {
    let folder = '';
    let kubeconfig = '';

    const node = async (name: string, spec: object, metadata: object = {}): Promise<void> => {
      await admin().create(RESOURCES.nodes, { metadata: { name, ...metadata }, spec });
    };
    /** A launched and registered node with its claim, as `provision` and `lifecycle` leave them. */
    const launched = async (name: string, instance: string, group: string): Promise<void> => {
      const providerID = `aws:///us-west-2-lax-1a/${instance}`;
      await admin().create(RESOURCES.nodeClaims, {
        metadata: { name, finalizers: [TERMINATION_FINALIZER] },
        spec: {
          nodeClassRef: { group, kind: 'EC2NodeClass', name: 'default' },
          requirements: REQUIREMENTS,
        },
      });
      const status = { providerID, nodeName: `node-${name}` };
      const address = { name };
      await admin().patch(
        RESOURCES.nodeClaims,
        address,
        { kind: 'merge', value: { status } },
        'status',
      );
      await node(`node-${name}`, { providerID }, { finalizers: [TERMINATION_FINALIZER] });
    };
    const exists = async (resource: Resource, name: string): Promise<boolean> => {
      try {
        await admin().get(resource, { name });
        return true;
      } catch (error) {
        if (isKubeFault(error, 'notFound')) return false;
        throw error;
      }
    };
    const finalizers = async (resource: Resource, name: string): Promise<unknown> => {
      const object = await admin().get(resource, { name });
      return property(property(object, 'metadata'), 'finalizers');
    };
    const release = (...args: readonly string[]) =>
      joiner('release', '--kubeconfig', kubeconfig, ...args);

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'joiner-release-'));
      kubeconfig = await writeKubeconfig(folder, plane());
      await ensureNamespace(admin(), 'kube-system');
      await establishCrds(admin(), await ourCrds());
      await launched('a', 'i-0000000000000000a', 'karpenter.k8s.aws');
      await launched('b', 'i-0000000000000000b', 'karpenter.k8s.aws');
      await launched('auto', 'i-0000000000000000c', 'eks.amazonaws.com');
      await node('managed', { providerID: 'aws:///us-west-2a/i-0000000000000000d' });
    });
    afterAll(async () => {
      await rm(folder, { recursive: true, force: true });
    });

    it('pause and resume write the pauses, and leave other keys alone', async () => {
      const change = async (...args: readonly string[]): Promise<string> => {
        const { exitCode, stdout, stderr } = await joiner(...args, '--kubeconfig', kubeconfig);
        expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
        return stdout;
      };
      const off = 'launch: runs\ndisrupt: runs\nterminate: runs\n';
      expect(await change('resume')).toBe(off);
      expect(await change('pause', 'disrupt')).toBe(
        'launch: runs\ndisrupt: paused\nterminate: runs\n',
      );
      const address = { namespace: 'kube-system', name: 'joiner' };
      const data = { note: 'by hand' };
      await admin().patch(RESOURCES.configMaps, address, { kind: 'merge', value: { data } });
      expect(await change('pause', 'all', '--for', '1h')).toMatch(
        /^launch: paused until \S+Z\ndisrupt: paused until \S+Z\nterminate: paused until \S+Z\n$/,
      );
      const answer = JSON.parse(await change('resume', 'launch', '-o', 'json'));
      expect(answer.pauses).toMatchObject({ launch: { paused: false, until: null } });
      const hours = (Date.parse(answer.pauses.terminate.until) - Date.now()) / 3_600_000;
      expect(hours).toBeGreaterThan(0.95);
      expect(hours).toBeLessThan(1.05);
      expect(await change('resume')).toBe(off);
      const left = await admin().get(RESOURCES.configMaps, address);
      expect(property(left, 'data')).toEqual(data);
    });

    it('kubectl delete waits for ever while nobody is there to take the finalizer off', async () => {
      await admin().delete(RESOURCES.nodes, { name: 'node-a' }, {});
      expect(await finalizers(RESOURCES.nodes, 'node-a')).toEqual([TERMINATION_FINALIZER]);
    });

    it('says what it would do, and does nothing, with --dry-run', async () => {
      const { exitCode, stdout, stderr } = await release('node-a', '--dry-run');
      expect({ exitCode, stdout }).toEqual({
        exitCode: 0,
        stdout:
          'node/node-a: finalizer karpenter.sh/termination would be removed (dry run)\n' +
          'nodeclaim/a: finalizer karpenter.sh/termination would be removed (dry run)\n',
      });
      expect(stderr).toContain('pods are not drained');
      expect(stderr).toContain(
        'aws ec2 terminate-instances --region us-west-2 --instance-ids i-0000000000000000a\n',
      );
      expect(await exists(RESOURCES.nodes, 'node-a')).toBe(true);
      expect(await finalizers(RESOURCES.nodeClaims, 'a')).toEqual([TERMINATION_FINALIZER]);
    });

    it('refuses while a function has taken its Lease lately, and still after it freed it', async () => {
      const lease = await kubeLeases({ client: admin(), holder: 'request-1' }).acquire('lifecycle');
      for (const state of ['held', 'freed']) {
        if (state === 'freed') await lease?.releaseUnlessWoken();
        const { exitCode, stdout, stderr } = await release('node-a');
        expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
        expect(stderr).toMatch(
          /Joiner is alive: the Lease kube-system\/joiner-lifecycle was renewed \d s ago/,
        );
        expect(stderr).toContain('nothing was changed');
      }
      expect(await exists(RESOURCES.nodes, 'node-a')).toBe(true);
    });

    it('does not mistake a Lease of long ago for a sign of life', async () => {
      const spec = { holderIdentity: null, acquireTime: '2026-01-01T00:00:00.000000Z' };
      const address = { namespace: 'kube-system', name: 'joiner-lifecycle' };
      await admin().patch(RESOURCES.leases, address, { kind: 'merge', value: { spec } });
      expect((await release('node-a', '--dry-run')).exitCode).toBe(0);
    });

    it('refuses while Karpenter, which has the same finalizer, is active, unless forced', async () => {
      const renewTime = new Date().toISOString().replace('Z', '000Z');
      const address = { namespace: 'kube-system', name: 'karpenter-leader-election' };
      await admin().create(
        RESOURCES.leases,
        { metadata: address, spec: { holderIdentity: 'karpenter-0', renewTime } },
        'kube-system',
      );
      const { exitCode, stderr } = await release('node-a', '--dry-run');
      expect(exitCode).toBe(1);
      expect(stderr).toContain('Karpenter is alive');
      expect((await release('node-a', '--dry-run', '--force')).exitCode).toBe(0);
      await admin().delete(RESOURCES.leases, address, {});
    });

    it('lets the node go, and its claim when it is deleted', async () => {
      const { exitCode, stdout } = await release('node-a');
      expect(exitCode).toBe(0);
      expect(stdout).toContain('node/node-a: finalizer karpenter.sh/termination removed: deleted');
      expect(stdout).toContain('nodeclaim/a: finalizer karpenter.sh/termination removed\n');
      expect(await exists(RESOURCES.nodes, 'node-a')).toBe(false);
      expect(await exists(RESOURCES.nodeClaims, 'a')).toBe(true);
      await admin().delete(RESOURCES.nodeClaims, { name: 'a' }, {});
      expect(await exists(RESOURCES.nodeClaims, 'a')).toBe(false);
    });

    it.each([
      ['managed', 'neither by Joiner nor by Karpenter'],
      ['node-auto', 'neither by Joiner nor by Karpenter'],
      ['auto', 'EKS Auto Mode (eks.amazonaws.com)'],
      ['nobody', 'there is no node and no NodeClaim of this name'],
    ])('leaves %s alone, and with it all others that were named', async (name, why) => {
      const { exitCode, stdout, stderr } = await release('node-b', name);
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
      expect(stderr).toContain(why);
      expect(await finalizers(RESOURCES.nodes, 'node-b')).toEqual([TERMINATION_FINALIZER]);
    });

    it('takes only our own finalizer off', async () => {
      const value = { metadata: { finalizers: [OTHER_FINALIZER, TERMINATION_FINALIZER] } };
      await admin().patch(RESOURCES.nodes, { name: 'node-b' }, { kind: 'merge', value });
      const { exitCode, stdout } = await release('b', '-o', 'json');
      expect(exitCode).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({
        objects: [
          { kind: 'Node', name: 'node-b', result: 'done', wasDeleting: false },
          { kind: 'NodeClaim', name: 'b', result: 'done', wasDeleting: false },
        ],
        instances: [{ id: 'i-0000000000000000b', region: 'us-west-2' }],
      });
      expect(await finalizers(RESOURCES.nodes, 'node-b')).toEqual([OTHER_FINALIZER]);
      expect((await release('node-b')).stdout).toContain('nothing to remove');
    });

    it('with --all also classes and claims without a node, but nothing of Auto Mode', async () => {
      await admin().create(RESOURCES.nodeClasses, {
        metadata: { name: 'default', finalizers: [CLASS_FINALIZER] },
        spec: {
          amiSelectorTerms: [{ alias: 'al2023@latest' }],
          role: 'JoinerNode',
          subnetSelectorTerms: [{ id: 'subnet-0123456789abcdef0' }],
          securityGroupSelectorTerms: [{ id: 'sg-0123456789abcdef0' }],
        },
      });
      await admin().delete(RESOURCES.nodeClasses, { name: 'default' }, {});
      await launched('c', 'i-0000000000000000e', 'karpenter.k8s.aws');
      await admin().delete(RESOURCES.nodes, { name: 'node-c' }, {});
      const { exitCode, stdout, stderr } = await release('--all');
      expect({ exitCode, stdout }).toEqual({
        exitCode: 0,
        stdout:
          'node/node-c: finalizer karpenter.sh/termination removed: deleted\n' +
          'nodeclaim/c: finalizer karpenter.sh/termination removed\n' +
          'ec2nodeclass/default: finalizer karpenter.k8s.aws/termination removed: deleted\n',
      });
      expect(stderr).toContain('instance profiles that Joiner made for EC2NodeClasses');
      expect(await finalizers(RESOURCES.nodes, 'node-auto')).toEqual([TERMINATION_FINALIZER]);
      expect(await finalizers(RESOURCES.nodeClaims, 'auto')).toEqual([TERMINATION_FINALIZER]);
      expect((await release('--all')).stdout).toContain('nothing is held');
    });
  },
  () => ({ controllers: false }),
);
