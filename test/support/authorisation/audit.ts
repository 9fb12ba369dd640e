import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withFollowing } from '../../../infra/rights/rules.ts';
import { FUNCTION_NAMES, type FunctionName } from '../../../shared/contract.ts';
import { property, text } from '../../../shared/kube/list.ts';
import { type KubeAsked, kubeAsked, type RequestRecord } from './record.ts';
import { rightsRules, waysOf } from './rights.ts';

const GOLDEN = join(import.meta.dirname, '../../infra/golden');
/** What the bundles ask for. */
const RECORD = join(GOLDEN, 'requests.json');
/** What only other suites show. */
export const FURTHER = join(GOLDEN, 'further-requests.json');

/** A request of a function that the bundles do not show, and the suite that does. */
export interface FurtherRequest {
  readonly by: FunctionName;
  readonly asked: KubeAsked;
  readonly suite: string;
}

type Heard = Omit<FurtherRequest, 'suite'>;

/**
 * What the functions of a closed loop asked for and their own rules do not allow. They run in one
 * process there, as one user who is in all of their groups; the API server's audit log tells them
 * apart by their user agents. https://kubernetes.io/docs/tasks/debug/debug-cluster/audit/
 */
export async function askedBeyondRights(auditLog: string): Promise<readonly string[]> {
  const all = await heardIn(auditLog);
  return all
    .filter(({ by, asked }) => waysOf(rightsRules(by), asked).length === 0)
    .map((each) => JSON.stringify(each));
}

/** Keeps what this suite has shown first, and forgets what it shows no more. */
export async function recordFurther(auditLog: string, suite: string): Promise<void> {
  const record = JSON.parse(await readFile(RECORD, 'utf8')) as RequestRecord;
  const kept = JSON.parse(await readFile(FURTHER, 'utf8')) as readonly FurtherRequest[];
  const others = kept.filter((each) => each.suite !== suite);
  const known = new Set(
    FUNCTION_NAMES.flatMap((by) => {
      const ofOthers = others.filter((each) => each.by === by).map(({ asked }) => asked);
      const shown = withFollowing([...(record[by]?.kubernetes ?? []), ...ofOthers]);
      return shown.map((asked) => keyOf({ by, asked }));
    }),
  );
  const fresh = (await heardIn(auditLog)).filter((each) => !known.has(keyOf(each)));
  const all = [...others, ...fresh.map((each) => ({ ...each, suite }))];
  const lines = all.map((each) => JSON.stringify(each)).sort();
  await writeFile(FURTHER, `[\n  ${lines.join(',\n  ')}\n]\n`);
}

function keyOf({ by, asked }: Heard): string {
  const { verb, group, resource, namespace = '', name = '' } = asked;
  return [by, verb, group, resource, namespace, name].join('|');
}

async function heardIn(auditLog: string): Promise<readonly Heard[]> {
  const lines = (await readFile(auditLog, 'utf8')).split('\n').filter((line) => line !== '');
  const heard = lines.map((line) => decode(JSON.parse(line))).filter((each) => each !== undefined);
  return [...new Map(heard.map((each) => [keyOf(each), each])).values()];
}

function decode(event: unknown): Heard | undefined {
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
