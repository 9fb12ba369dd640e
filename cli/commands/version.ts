import { Command } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { ENV } from '../../shared/contract.ts';
import { property, text } from '../../shared/kube/list.ts';
import { reporting } from '../bad-input.ts';
import { type ClusterOptions, connect, withClusterOptions } from '../connect.ts';
import { documentText, isDocument, type OutputFormat, outputOption } from '../output.ts';
import { readStated } from '../stack-settings.ts';
import { writeErr, writeOut } from '../terminal.ts';
import { skewText } from '../version/skew.ts';

interface Options extends ClusterOptions {
  readonly client?: boolean;
  readonly output: OutputFormat<'text'>;
}

/** The version that the stack has stated in the cluster, or why it is not known. */
type FunctionsVersion = { readonly version: string } | { readonly why: string };

async function functionsVersion(options: Options): Promise<FunctionsVersion> {
  try {
    const { client } = await connect('joiner-version', options);
    try {
      const { data, fault } = await readStated(client);
      if (fault !== undefined) return { why: fault };
      const version = text(property(data, ENV.version));
      return version === '' ? { why: 'the stack does not state its version' } : { version };
    } finally {
      await client.close();
    }
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) };
  }
}

async function run(options: Options): Promise<number> {
  const found = options.client === true ? undefined : await functionsVersion(options);
  const client = packageJson.version;
  const functions = found !== undefined && 'version' in found ? found.version : undefined;
  const skew = functions === undefined ? undefined : skewText(client, functions);
  if (isDocument(options.output)) {
    const value = { joiner: client, functions: functions ?? null, skew: skew ?? null };
    writeOut(documentText(value, options.output));
  } else {
    const second = functions === undefined ? '' : `Functions Version: ${functions}\n`;
    writeOut(`Client Version: ${client}\n${second}`);
  }
  if (skew !== undefined) writeErr(`joiner: ${skew}\n`);
  if (found !== undefined && 'why' in found) {
    writeErr(`joiner: the functions' version is not known: ${found.why}\n`);
  }
  return 0;
}

/** `joiner version`: the command's version, and the functions' where a cluster answers. */
export function versionCommand(): Command {
  return withClusterOptions(new Command('version'))
    .description("print the versions of the command and of a cluster's functions")
    .option('--client', 'only the version of the command, without a cluster')
    .addOption(outputOption('text'))
    .action((options: Options) => reporting(() => run(options)));
}
