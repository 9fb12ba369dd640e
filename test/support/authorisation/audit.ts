import { readFile } from 'node:fs/promises';
import { FUNCTION_NAMES, type FunctionName } from '../../../shared/contract.ts';
import { property, text } from '../../../shared/kube/list.ts';
import { type KubeAsked, kubeAsked } from './record.ts';
import { rightsRules, waysOf } from './rights.ts';

/**
 * What the functions of a closed loop asked for and their own rules do not allow. They run in one
 * process there, as one user who is in all of their groups; the API server's audit log tells them
 * apart by their user agents. https://kubernetes.io/docs/tasks/debug/debug-cluster/audit/
 */
export async function askedBeyondRights(auditLog: string): Promise<readonly string[]> {
  const lines = (await readFile(auditLog, 'utf8')).split('\n').filter((line) => line !== '');
  const asked = new Map<string, { readonly by: FunctionName; readonly asked: KubeAsked }>();
  for (const line of lines) {
    const each = decode(JSON.parse(line));
    if (each !== undefined) asked.set(JSON.stringify(each), each);
  }
  return [...asked]
    .filter(([, each]) => waysOf(rightsRules(each.by), each.asked).length === 0)
    .map(([shown]) => shown);
}

function decode(event: unknown) {
  const [, name] = /^joiner-([a-z]+)\//.exec(text(property(event, 'userAgent'))) ?? [];
  const by = FUNCTION_NAMES.find((each) => each === name);
  const object = property(event, 'objectRef');
  const field = (key: string): string => text(property(object, key));
  if (by === undefined || field('resource') === '') return undefined;
  const subresource = field('subresource');
  const resource = `${field('resource')}${subresource === '' ? '' : `/${subresource}`}`;
  const asked = kubeAsked({
    verb: text(property(event, 'verb')),
    group: field('apiGroup'),
    resource,
    namespace: field('namespace'),
    name: field('name'),
  });
  return { by, asked };
}
