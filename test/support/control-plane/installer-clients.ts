import { KubeClient } from '../../../shared/kube/client.ts';
import { systemTiming } from '../../../shared/kube/time.ts';
import { fixedToken } from '../../../shared/kube/token.ts';
import { httpTransport } from '../../../shared/kube/transport.ts';
import type { ControlPlane } from './launch.ts';

/** The admin as a member of one group and of no other, for so many requests. */
export function asGroup(
  { url, caPem, adminToken }: ControlPlane,
  group: string,
  requests: number,
): KubeClient {
  const transport = httpTransport({ url, caPem });
  const as = { 'impersonate-user': 'installer', 'impersonate-group': group };
  let left = requests;
  return new KubeClient({
    transport: {
      ...transport,
      send: (request) => {
        left -= 1;
        const headers = { ...request.headers, ...(left < 0 ? {} : as) };
        return transport.send({ ...request, headers });
      },
    },
    tokens: fixedToken(adminToken),
    timing: systemTiming,
    name: 'joiner-install',
    version: 'test',
  });
}

/** Waiting for an access entry takes no time here. */
export function impatientClient({ url, caPem }: ControlPlane, token: string): KubeClient {
  return new KubeClient({
    transport: httpTransport({ url, caPem }),
    tokens: fixedToken(token),
    timing: { ...systemTiming, sleep: async () => {} },
    name: 'joiner-install',
    version: 'test',
  });
}
