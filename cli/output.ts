import { Option } from 'commander';
import {
  type CreateNodeOptions,
  Document,
  type DocumentOptions,
  Scalar,
  type SchemaOptions,
  type ToStringOptions,
  visit,
} from 'yaml';
import { jsonText } from './json.ts';
import { isVisible } from './terminal.ts';

/** Formats for programs; the others are for people. */
export type DocumentFormat = 'json' | 'yaml';

/** What `--output` may be: one format for people, and both for programs. */
export type OutputFormat<Human extends string> = Human | DocumentFormat;

/** The option `--output` of every command, with the formats in this order; the first is the default. */
export function formatOption(...formats: readonly [string, ...(readonly string[])]): Option {
  return new Option('-o, --output <format>', 'output format').choices(formats).default(formats[0]);
}

/** The option `--output` of a command that answers with a document; people are the default. */
export function outputOption(
  human: 'text' | 'table',
  ...further: readonly ('name' | 'wide')[]
): Option {
  return formatOption(human, 'json', 'yaml', ...further);
}

/** Names for other programs, one in each line: `nodepool/web`, as `kubectl get -o name` prints them. */
export function nameLines(names: readonly string[]): string {
  return names.map((name) => `${name}\n`).join('');
}

/** Whether a program reads the answer. */
export function isDocument(format: string): format is DocumentFormat {
  return format === 'json' || format === 'yaml';
}

type YamlOptions = CreateNodeOptions & DocumentOptions & SchemaOptions & ToStringOptions;

/** As YAML. Strings with characters that are escaped when they are written are quoted for that. */
export function yamlText(value: unknown, options: YamlOptions = {}): string {
  const document = new Document(value, options);
  visit(document, {
    Scalar(_, scalar) {
      if (typeof scalar.value === 'string' && !isVisible(scalar.value)) {
        scalar.type = Scalar.QUOTE_DOUBLE;
      }
    },
  });
  return document.toString(options);
}

/** The document in the format; both hold the same fields, null where there is no value. */
export function documentText(value: object, format: DocumentFormat): string {
  const json = jsonText(value);
  return format === 'json' ? json : yamlText(JSON.parse(json));
}
