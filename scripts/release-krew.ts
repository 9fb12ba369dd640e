/**
 * Writes the manifest of the kubectl plugin for Krew beside the package: `npm run package`, then
 * `npm run release:krew -- --repository OWNER/NAME`.
 * https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import packageJson from '../package.json' with { type: 'json' };

/** The plugin `joiner`, run as `kubectl joiner`. */
export function krewManifest(version: string, repository: string, archive: Uint8Array): string {
  const home = `https://github.com/${repository}`;
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
  const { version } = packageJson;
  const { values } = parseArgs({ options: { repository: { type: 'string' } } });
  const repository = values.repository ?? process.env['GITHUB_REPOSITORY'];
  if (repository === undefined || !/^[\w.-]+\/[\w.-]+$/.test(repository)) {
    process.stderr.write('error: --repository OWNER/NAME says where the release is on GitHub\n');
    process.exitCode = 2;
    return;
  }
  const dist = join(import.meta.dirname, '..', 'dist');
  const archive = readFileSync(join(dist, `eks-joiner-${version}.tgz`));
  writeFileSync(join(dist, 'joiner.krew.yaml'), krewManifest(version, repository, archive));
  process.stdout.write('dist/joiner.krew.yaml\n');
}

if (import.meta.main) main();
