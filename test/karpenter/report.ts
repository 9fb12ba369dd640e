import { property, text } from '../../shared/kube/list.ts';

/** How one case of a suite ended. */
export interface CaseOutcome {
  /** The texts of its containers and its own; a name that is there again has a number. */
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  readonly seconds: number;
  /** Of what failed, with the file and line; empty otherwise. */
  readonly message: string;
}

const MESSAGE_LENGTH_MAX = 1500;

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The cases of a Ginkgo report; also of a dry run. */
export function casesOf(report: unknown): readonly CaseOutcome[] {
  const seen = new Map<string, number>();
  return listOf(report).flatMap((suite) =>
    listOf(property(suite, 'SpecReports'))
      .filter((spec) => property(spec, 'LeafNodeType') === 'It')
      .map((spec) => {
        const texts = [...listOf(property(spec, 'ContainerHierarchyTexts'))];
        const plain = [...texts, property(spec, 'LeafNodeText')].join(' ');
        const times = (seen.get(plain) ?? 0) + 1;
        seen.set(plain, times);
        return outcomeOf(times === 1 ? plain : `${plain} #${times}`, spec);
      }),
  );
}

function outcomeOf(name: string, spec: unknown): CaseOutcome {
  const said = text(property(spec, 'State'));
  const isLeftOut = said === 'skipped' || said === 'pending';
  const state = said === 'passed' ? 'passed' : isLeftOut ? 'skipped' : 'failed';
  const seconds = Number(property(spec, 'RunTime') ?? 0) / 1e9;
  return { name, state, seconds, message: state === 'failed' ? messageOf(spec) : '' };
}

/** What failed and where; of a node around the cases (a setup, a clean-up) as well. */
export function messageOf(spec: unknown): string {
  const failure = property(spec, 'Failure');
  const location = property(failure, 'Location');
  const file = text(property(location, 'FileName')).split('/').at(-1);
  const line = String(property(location, 'LineNumber') ?? '');
  const said = text(property(failure, 'Message')).slice(0, MESSAGE_LENGTH_MAX);
  return `${file}:${line} ${said}`;
}
