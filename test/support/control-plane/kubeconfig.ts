import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ControlPlane } from './launch.ts';

/** Writes a kubeconfig of a control plane, as commands take it with `--kubeconfig`. */
export async function writeKubeconfig(
  folder: string,
  plane: ControlPlane,
  user: 'admin' | 'viewer' = 'admin',
): Promise<string> {
  const file = join(folder, `kubeconfig-${user}`);
  const token = user === 'admin' ? plane.adminToken : plane.viewerToken;
  const data = Buffer.from(plane.caPem).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'test', cluster: { server: plane.url, 'certificate-authority-data': data } },
    ],
    users: [{ name: user, user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user } }],
    'current-context': 'test',
  };
  await writeFile(file, JSON.stringify(config));
  return file;
}
