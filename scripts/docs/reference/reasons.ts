import { REASON_GROUPS } from '../../../shared/core/explain/definitions.ts';
import type {
  Definition,
  Parameters,
  ParameterType,
} from '../../../shared/core/explain/parameters.ts';
import { type Reason, sentence } from '../../../shared/core/explain/reason.ts';
import { heading } from './text.ts';

const money = { amount: 0.0384, currency: 'USD' } as const;
const offering = {
  type: 'm6g.large',
  zone: 'us-east-1a',
  capacityType: 'on-demand',
  price: money,
  listPrice: money,
} as const;

/** The sample of a numeric parameter by its place: {@link sampleSentence} replaces it. */
const numberAt = (at: number): number => 7_000_000 + 10 * at;

/** By type, the value in the sample of a sentence, from the parameter's name and place. */
const SAMPLES: Readonly<Record<ParameterType, (name: string, at: number) => unknown>> = {
  text: (name) => `<${name}>`,
  texts: (name) => [`<${name}>`],
  count: (_, at) => numberAt(at),
  number: (_, at) => numberAt(at),
  money: () => money,
  time: () => '2026-01-01T00:00:00.000Z',
  offering: () => offering,
  pools: () => [
    {
      nodePool: '<nodePool>',
      stages: [
        {
          code: 'node-affinity',
          parameters: {},
          what: 'zone In [us-east-1a]',
          before: 12,
          after: 4,
        },
        { code: 'request-too-large', parameters: {}, what: 'cpu 500', before: 4, after: 0 },
      ],
    },
  ],
  remainders: () => [
    { what: 'instance types', left: 12 },
    { what: 'available offerings', left: 0 },
  ],
  tallies: () => [
    {
      code: 'pods-not-cheaper',
      count: 3,
      example: 'NodeClaim/default-x7k2p',
      text: 'The pods of the node would not run cheaper on other nodes',
    },
  ],
};

function parameterLines(parameters: Parameters): readonly string[] {
  return Object.entries(parameters).map(
    ([name, { type, what }]) => `- \`${name}\` (${type}): ${what}`,
  );
}

/** The sentence with samples; a number is shown as its name, so that no sample looks like a fact. */
function sampleSentence(code: string, parameters: Parameters): string {
  const all = Object.entries(parameters);
  const values = all.map(([name, { type }], at) => [name, SAMPLES[type](name, at)] as const);
  const text = sentence({ code, parameters: Object.fromEntries(values) } as Reason);
  return all.reduce((shown, [name], at) => {
    const number = numberAt(at);
    return shown.replaceAll(`${number}`, `<${name}>`).replaceAll(`${number - 1}`, `<${name} - 1>`);
  }, text);
}

function entryOf(code: string, { meaning, remedy, parameters }: Definition): readonly string[] {
  const lines = parameterLines(parameters);
  return [
    `### \`${code}\``,
    '',
    `> \`${sampleSentence(code, parameters)}\``,
    '',
    meaning,
    '',
    `What to do: ${remedy}`,
    '',
    ...(lines.length === 0 ? [] : [...lines, '']),
  ];
}

const HEAD = [
  ...heading('Reasons', 'shared/core/explain'),
  'Joiner gives a reason for each decision and for each action that it did not take. The list of reasons is closed: a',
  'reason has a code, parameters of fixed types, and one sentence. The sentence is made from the code and the',
  'parameters, in one place.',
  '',
  'A reason is found in these places:',
  '',
  '- in the record of a decision, as `reasons[].code` and `reasons[].parameters` (`joiner decisions`, `simulate -o json`)',
  '- in an Event, as the annotation `joiner.dev/reason`',
  '- in a log line, as `code`',
  '- in `joiner explain`, `joiner plan` and the page of `--html`, as the sentence, and with `-o json` as the code',
  '',
  'Obstacles of one step are named together. What a later step alone can find, such as the price of a replacement, is named',
  'once they are gone. `joiner explain node` plans on without them, and names these, too, until the node goes.',
  '',
  '`joiner schema decision` prints the JSON Schema of a record with all reasons. Below, `<name>` stands for a parameter,',
  'and other values are samples.',
  '',
] as const;

/** docs/reasons.md. */
export function reasonsPage(): string {
  const groups = REASON_GROUPS.flatMap(({ title, reasons, note }) => [
    `## ${title}`,
    '',
    ...(note === undefined ? [] : [note, '']),
    ...Object.entries(reasons).flatMap(([code, definition]) => entryOf(code, definition)),
  ]);
  return `${[...HEAD, ...groups].join('\n').trimEnd()}\n`;
}
