import { JOINER_PROPS } from '../../../infra/constructs/props-check.ts';
import { textOf } from '../repository.ts';
import { cell, code, heading, pageOf, table } from './text.ts';

const SOURCE = 'infra/constructs/joiner-props.ts';

interface Prop {
  readonly name: string;
  readonly type: string;
  readonly isOptional: boolean;
  readonly text: string;
  readonly standard: string;
}

/** `{@link Joiner}` → `Joiner`; documents are named as they are linked to from here. */
function plain(text: string): string {
  return text
    .replaceAll(/\{@link (\w+)\}/g, '`$1`')
    .replaceAll(/docs\/([\w-]+)\.md/g, '[$1](../$1.md)');
}

/** Properties of the interface with their comments, as the file has them. */
function props(): readonly Prop[] {
  const [, body = ''] =
    /export interface JoinerProps \{\n([\s\S]*?)\n\}/.exec(textOf(SOURCE)) ?? [];
  const pattern = / {2}\/\*\*([\s\S]*?)\*\/\n {2}readonly (\w+)(\??): ([^;]+);/g;
  return [...body.matchAll(pattern)].map(([, comment = '', name = '', optional, type = '']) => {
    const said = comment
      .replaceAll(/\n\s*\*\s?/g, '\n')
      .replaceAll('\n', ' ')
      .trim();
    const [text = '', standard = ''] = said.split('@default');
    return {
      name,
      type: type.replaceAll(/\s+/g, ' '),
      isOptional: optional === '?',
      text: text.trim(),
      standard: standard.replace(/^\s*-\s*/, '').trim(),
    };
  });
}

function row({ name, type, isOptional, text, standard }: Prop): readonly string[] {
  const names = name + (isOptional ? '' : ' (required)');
  return [`\`${names}\``, code(type), plain(cell(text)), cell(standard)];
}

/** docs/reference/settings.md. */
export function settingsPage(): string {
  const found = props();
  const missing = JOINER_PROPS.filter((name) => !found.some((each) => each.name === name));
  if (missing.length > 0) throw new Error(`no comment is read of ${missing.join(', ')}`);
  return pageOf([
    ...heading('Settings', SOURCE),
    'The props of the construct `Joiner`. `npx cdk deploy -c NAME=VALUE` sets them for the stack;',
    '[Deploy](../deploy.md#options) describes the format of lists and durations. `code` is a function and cannot be set with `-c`.',
    '',
    ...table(['prop', 'type', 'meaning', 'default'], found.map(row)),
  ]);
}
