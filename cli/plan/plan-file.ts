import * as z from 'zod';
import { issuesOf } from '../../shared/api/schema/issues.ts';
import { isJson } from '../../shared/sim/json.ts';
import { BadInput } from '../bad-input.ts';
import { readJson } from '../case-file.ts';
import { issueText } from '../unknown-names.ts';
import { decisionSchema } from './decision.ts';

/** Raised when a file of an earlier version would be understood otherwise. */
const VERSION = 1;
const KIND = 'JoinerPlan';

const schema = z.strictObject({
  kind: z.literal(KIND),
  version: z.literal(VERSION),
  /** Of Joiner. */
  joiner: z.string(),
  madeAt: z.iso.datetime('must be a time such as 2026-01-01T00:00:00Z'),
  cluster: z.strictObject({
    /** Of the namespace kube-system: the cluster's own, whatever it is called. */
    uid: z.string().min(1),
    server: z.string(),
    /** In EKS, as its stack has stated it. */
    name: z.string().nullable(),
  }),
  region: z.string(),
  /** Where the prices come from. */
  source: z.string(),
  notes: z.array(z.string()),
  pricePerHour: z.strictObject({ now: z.number(), after: z.number(), unpriced: z.number() }),
  decisions: z.array(decisionSchema),
});

/** A plan as people approve it. */
export type PlanFile = z.infer<typeof schema>;

/** The file's text; kind and version are added. */
export function planFileText(plan: Omit<PlanFile, 'kind' | 'version'>): string {
  return `${JSON.stringify({ kind: KIND, version: VERSION, ...plan }, null, 1)}\n`;
}

/** What is wrong with a file that is none, or one of another version; undefined: it is one. */
function strangeness(raw: unknown): string | undefined {
  if (!isJson(raw) || raw['kind'] !== KIND) {
    const kind = isJson(raw) ? JSON.stringify(raw['kind']) : typeof raw;
    return `is no file of joiner plan --out: kind must be ${KIND}, not ${kind}`;
  }
  if (raw['version'] === VERSION) return undefined;
  return `version must be ${VERSION}, not ${JSON.stringify(raw['version'])}: make the plan anew`;
}

/** The plan in parsed JSON; every problem is named at once. */
export function planOf(file: string, raw: unknown): PlanFile {
  const strange = strangeness(raw);
  if (strange !== undefined) throw new BadInput([`${file}: ${strange}`]);
  const parsed = schema.safeParse(raw, { reportInput: true });
  if (parsed.success) return parsed.data;
  const issues = issuesOf(parsed.error, schema);
  throw new BadInput(issues.map((each) => `${file}: ${issueText(each)}`));
}

/** Reads a file that `joiner plan --out` has written; `-` is standard input. */
export function readPlanFile(file: string): PlanFile {
  return planOf(file, readJson(file));
}
