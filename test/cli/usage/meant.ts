import { type Row, row } from './row.ts';

/** Misspelt words that are suggested. */
export const MEANT: readonly Row[] = [
  row('a command', {}, 'sovle', "unknown command 'sovle' (did you mean solve?)"),
  row('an option', {}, 'crds --hlep', "unknown option '--hlep' (did you mean --help?)"),
  row('a format', {}, 'compare -o jsn', 'are table, json, yaml. (did you mean json?)'),
  row('a scope', {}, 'pause lanch', 'terminate. (did you mean launch?)'),
  row('a shell', {}, 'completion bsh', '(did you mean bash?)'),
  row('a step', {}, 'adopt --until resum', 'resume. (did you mean resume?)'),
  row(
    'a required option',
    {},
    'catalog --regon=eu-west-1',
    "'--region <region>' not specified (did you mean --region by --regon?)",
  ),
  row('a kind', {}, 'explain pdo web', 'expected pod, node or nodeclaim (did you mean pod?)'),
  row('a schema', {}, 'schema decison', 'of that name (did you mean decision?)'),
  row(
    'a setting of decisions',
    {},
    'backtest @ --set nodePrce=1',
    '--set nodePrce: not a setting of recorded decisions (did you mean nodePrice?); valid:',
  ),
];
