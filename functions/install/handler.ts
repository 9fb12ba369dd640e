import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { environmentCredentials } from '../../shared/aws/access.ts';
import type { ClusterAccess } from '../../shared/aws/cluster-access.ts';
import { ENV, kubernetesClient } from '../../shared/contract.ts';
import { KubeClient } from '../../shared/kube/client.ts';
import { systemTiming } from '../../shared/kube/time.ts';
import { eksTokenSource } from '../../shared/kube/token.ts';
import { httpTransport } from '../../shared/kube/transport.ts';
import { lambdaAccess } from '../runtime/access.ts';
import { putOverHttps } from './answer.ts';
import { installCloud } from './cloud.ts';
import { install } from './install.ts';

/** What Lambda gives beside the event, as far as it is used. */
interface LambdaContext {
  getRemainingTimeInMillis(): number;
}

/** The custom resource of the stack. It answers CloudFormation itself. */
export const handler = async (event: unknown, context: LambdaContext): Promise<void> => {
  const region = variable('AWS_REGION');
  await install(
    {
      region,
      cloud: installCloud(lambdaAccess(region, 'install'), variable(ENV.eventBus)),
      connect,
      manifests: readManifests(),
      put: putOverHttps,
      sleep: (ms) => systemTiming.sleep(ms),
      // Lambda itself writes it as JSON, with the level and the time.
      log: (line) => console.info(line),
    },
    event,
    context.getRemainingTimeInMillis(),
  );
};

function connect(cluster: string, { endpoint, caPem }: ClusterAccess): KubeClient {
  return new KubeClient({
    transport: httpTransport({ url: endpoint, caPem }),
    tokens: eksTokenSource({
      cluster,
      region: variable('AWS_REGION'),
      credentials: async () => environmentCredentials(process.env),
      nowMs: () => Date.now(),
      dnsSuffix: variable(ENV.dnsSuffix),
    }),
    timing: systemTiming,
    name: kubernetesClient('install'),
    version: variable(ENV.version),
  });
}

/** The bundler lays them beside the code. */
function readManifests(): readonly object[] {
  const manifests: unknown = JSON.parse(
    readFileSync(join(import.meta.dirname, 'manifests.json'), 'utf8'),
  );
  if (!Array.isArray(manifests)) throw new Error('manifests.json holds no list');
  return manifests;
}

function variable(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set`);
  return value;
}
