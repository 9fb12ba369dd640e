import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { kubeconfigFiles } from '../shared/kube/kubeconfig.ts';
import { isJson } from '../shared/sim/json.ts';
import { BadInput, unreadable } from './bad-input.ts';

function bytesOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** Why the file is no kubeconfig; undefined: it is one. */
function faultOf(bytes: Buffer): string | undefined {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return 'is not a text file';
  }
  if (text.includes('\0')) return 'is not a text file';
  const document = parseDocument(text, { logLevel: 'error' });
  const [error] = document.errors;
  if (error !== undefined) return `is no YAML: ${error.message.split('\n')[0]?.replace(/:$/, '')}`;
  const value: unknown = document.toJS();
  if (isJson(value) && ('clusters' in value || 'contexts' in value || 'users' in value)) {
    return undefined;
  }
  return 'is no kubeconfig: it names no clusters, contexts and users';
}

/** The first of the files that cannot be used is BadInput: before anybody asks a cluster. */
export function checkKubeconfig(given: string | undefined): void {
  for (const file of kubeconfigFiles(given)) {
    try {
      const fault = faultOf(bytesOf(file));
      if (fault !== undefined) throw new BadInput([`${file}: ${fault}`]);
    } catch (error) {
      if (!(error instanceof BadInput)) throw error;
      throw new BadInput(error.problems.map((problem) => `kubeconfig: ${problem}`));
    }
  }
}
