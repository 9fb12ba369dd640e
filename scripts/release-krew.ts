/**
 * Writes the manifest of the kubectl plugin for Krew beside the package: `npm run package`, then
 * `npm run release:krew`. The repository is that of package.json.
 * https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import packageJson from '../package.json' with { type: 'json' };

/** The plugin `joiner`, run as `kubectl joiner`. `home` is the address of the repository. */
export function krewManifest(version: string, home: string, archive: Uint8Array): string {
  return stringify({
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'joiner' },
    spec: {
      version: `v${version}`,
      homepage: home,
      shortDescription: 'Explain and preview nodes and their cost on EKS',
      description:
        'Previews, explains and replays the decisions of Joiner, a serverless node provisioner for\n' +
        'Amazon EKS that is compatible with Karpenter. It also compares the cost of a cluster under\n' +
        "Karpenter's rules and under Joiner.\n",
      caveats: 'Needs Node.js 20.16 or newer on the PATH.\n',
      platforms: [
        {
          // Krew runs the file itself, which Windows does not do with a script.
          selector: {
            matchExpressions: [{ key: 'os', operator: 'In', values: ['darwin', 'linux'] }],
          },
          uri: `${home}/releases/download/v${version}/eks-joiner-${version}.tgz`,
          sha256: createHash('sha256').update(archive).digest('hex'),
          files: [{ from: 'package/*', to: '.' }],
          bin: 'cli/bin/joiner.mjs',
        },
      ],
    },
  });
}

function main(): void {
  const { version, repository } = packageJson;
  const [, home = ''] = /^git\+(.*)\.git$/.exec(repository.url) ?? [];
  const dist = join(import.meta.dirname, '..', 'dist');
  const archive = readFileSync(join(dist, `eks-joiner-${version}.tgz`));
  writeFileSync(join(dist, 'joiner.krew.yaml'), krewManifest(version, home, archive));
  process.stdout.write('dist/joiner.krew.yaml\n');
}

if (import.meta.main) main();
