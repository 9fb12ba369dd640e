import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { manifests } from '../../infra/bundle.ts';
import { RESOURCES } from '../../shared/api/resources.ts';
import { FUNCTION_NAMES } from '../../shared/contract.ts';
import { kubeLeases } from '../../shared/kube/leases.ts';
import { joiner } from '../cli/run.ts';
import { ensureNamespace } from '../contract/kube-objects.ts';
import { CheckedAccount } from '../support/aws/checked-account.ts';
import { establishCrds, ourCrds } from '../support/control-plane/crds.ts';
import { writeKubeconfig } from '../support/control-plane/kubeconfig.ts';
import { applyManifests } from '../support/control-plane/manifests.ts';
import { describeWithControlPlane } from '../support/control-plane/suite.ts';
import { startTokenWebhook, type TokenWebhook } from '../support/control-plane/token-webhook.ts';

const REGION = 'us-east-1';
const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'a-secret-of-the-test' };
const DEFINITIONS = 5;

let webhook: TokenWebhook | undefined;
beforeAll(async () => {
  const known = { ...KEYS, username: 'engineer', groups: ['system:masters'] };
  webhook = await startTokenWebhook('demo', REGION, [known]);
});
afterAll(async () => webhook?.close());

interface Check {
  readonly check: string;
  readonly status: string;
  readonly message: string;
}

await describeWithControlPlane(
  'joiner doctor on a real API server',
  ({ admin, plane }) => {
    const aws = new CheckedAccount();
    let folder = '';

    const doctor = async (...args: readonly string[]) => {
      const line = ['doctor', '--cluster', 'demo', '--region', REGION, '-o', 'json', ...args];
      const { exitCode, stdout } = await joiner(...line);
      const { checks } = JSON.parse(stdout) as { readonly checks: readonly Check[] };
      const of = (check: string): readonly string[] =>
        checks
          .filter((each) => each.check === check)
          .map(({ status, message }) => `${status}: ${message}`);
      return { exitCode, of };
    };

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'joiner-doctor-'));
      await ensureNamespace(admin(), 'kube-system');
      vi.stubEnv('AWS_ENDPOINT_URL', await aws.start());
      vi.stubEnv('AWS_ACCESS_KEY_ID', KEYS.accessKeyId);
      vi.stubEnv('AWS_SECRET_ACCESS_KEY', KEYS.secretAccessKey);
      aws.cluster = {
        name: 'demo',
        version: '1.35',
        status: 'ACTIVE',
        endpoint: plane().url,
        certificateAuthority: { data: Buffer.from(plane().caPem).toString('base64') },
        accessConfig: { authenticationMode: 'API' },
        resourcesVpcConfig: { endpointPublicAccess: true, publicAccessCidrs: ['0.0.0.0/0'] },
      };
    });
    afterAll(async () => {
      vi.unstubAllEnvs();
      await aws.stop();
      await rm(folder, { recursive: true, force: true });
    });

    it('before the deployment: nothing is there, and nothing is in the way', async () => {
      const { exitCode, of } = await doctor();
      expect(of('kubernetes')).toEqual([
        expect.stringMatching(/^OK: the API server answers: v1\.3[0-9]\.\d+$/),
      ]);
      expect(of('definition')).toHaveLength(DEFINITIONS);
      for (const each of of('definition')) expect(each).toMatch(/^WARN: .* is not installed$/);
      expect(of('rights')[0]).toMatch(/^WARN: ClusterRole joiner:disrupt is absent, /);
      expect(of('karpenter')).toEqual(['OK: not installed, or never elected']);
      expect(exitCode).toBe(0);
    });

    it('with functions alone: what the installer brings is missed', async () => {
      aws.deploy(
        'demo',
        FUNCTION_NAMES.filter((name) => name !== 'shadow'),
      );
      const { exitCode, of } = await doctor();
      expect(of('definition')[0]).toMatch(/^FAIL/);
      expect(of('rights')[0]).toMatch(/^FAIL/);
      expect(of('at work')).toEqual([
        'FAIL: provision has never taken its Lease',
        'FAIL: disrupt has never taken its Lease',
        'FAIL: lifecycle has never taken its Lease',
        'FAIL: nodeclass has never taken its Lease',
      ]);
      expect(exitCode).toBe(1);
    });

    it('after the installer and a first run: all is well, by either way in', async () => {
      await establishCrds(admin(), await ourCrds());
      await applyManifests(admin(), manifests());
      const leases = kubeLeases({ client: admin(), holder: 'request-1' });
      for (const name of ['decide', 'lifecycle', 'nodeclass']) {
        await (await leases.acquire(name))?.releaseUnlessWoken();
      }
      const file = await writeKubeconfig(folder, plane());
      for (const args of [[], ['--kubeconfig', file]]) {
        const { exitCode, of } = await doctor(...args);
        for (const each of of('definition')) expect(each).toMatch(/^OK: .* is ours$/);
        expect(of('rights')).toEqual(['OK: 35 objects as ours']);
        expect(of('at work')[0]).toMatch(/^OK: provision took its Lease \d+ s ago$/);
        expect(of('pauses')).toEqual(['OK: off']);
        expect(exitCode).toBe(0);
      }
    });

    it('later: rights that somebody changed, a pause, and a class without subnets', async () => {
      const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }];
      const role = { name: 'joiner:disrupt' };
      await admin().patch(RESOURCES.clusterRoles, role, { kind: 'merge', value: { rules } });
      const pauses = { metadata: { name: 'joiner' }, data: { 'pause.launch': 'on' } };
      await admin().create(RESOURCES.configMaps, pauses, 'kube-system');
      await admin().create(RESOURCES.nodeClasses, {
        metadata: { name: 'default' },
        spec: {
          amiSelectorTerms: [{ alias: 'al2023@latest' }],
          role: 'EksNodes',
          subnetSelectorTerms: [{ tags: { team: 'web' } }],
          securityGroupSelectorTerms: [{ tags: { team: 'web' } }],
        },
      });
      const { exitCode, of } = await doctor();
      expect(of('rights')).toEqual(['FAIL: ClusterRole joiner:disrupt is different']);
      expect(of('pauses')).toEqual(['WARN: paused: launch']);
      expect(of('subnets')[0]).toMatch(/^FAIL: of the EC2NodeClass default: none found/);
      expect(of('node role')[0]).toMatch(/^FAIL: EksNodes /);
      expect(exitCode).toBe(1);
    });

    it('says that the caller is not let in, and goes on', async () => {
      vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'another');
      const { of } = await doctor();
      expect(of('kubernetes')[0]).toMatch(/^WARN: not checked: 401: /);
      expect(of('cluster')).toEqual(['OK: demo is ACTIVE']);
    });
  },
  () => ({
    controllers: false,
    ...(webhook === undefined ? {} : { tokenWebhookUrl: webhook.url }),
  }),
);
