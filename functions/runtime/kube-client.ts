import { environmentCredentials } from '../../shared/aws/access.ts';
import { kubernetesClient } from '../../shared/contract.ts';
import { KubeClient } from '../../shared/kube/client.ts';
import { systemTiming } from '../../shared/kube/time.ts';
import { eksTokenSource } from '../../shared/kube/token.ts';
import { httpTransport } from '../../shared/kube/transport.ts';
import type { Config } from './config.ts';

/** The cluster's API with tokens of the function's role. */
export async function kubeClient(
  { cluster, region, dnsSuffix, functionName, version }: Config,
  facts: () => Promise<{ readonly endpoint: string; readonly certificateAuthority: string }>,
): Promise<KubeClient> {
  const { endpoint, certificateAuthority } = await facts();
  const caPem = Buffer.from(certificateAuthority, 'base64').toString('utf8');
  return new KubeClient({
    transport: httpTransport({ url: endpoint, caPem }),
    tokens: eksTokenSource({
      cluster,
      region,
      dnsSuffix,
      credentials: async () => environmentCredentials(process.env),
      nowMs: () => Date.now(),
    }),
    timing: systemTiming,
    name: kubernetesClient(functionName),
    version,
  });
}
