// Programs over files: a directory of the application to read from, and one of the run's own to write to. `node examples/workspace.mjs`
import { createCodeMode, workspaceTools } from 'callgate';

const codeMode = createCodeMode({
  tools: [workspaceTools({ write: true })],
  // `{}` is a temporary directory for each run. `paths` stand beside it under their names, here for reading only.
  workspace: { paths: { examples: import.meta.dirname } },
});

// What a model would write. Only the small answer leaves the program.
const { value, error } = await codeMode.run(`
  const { matches } = await tools.search_files({ query: 'defineTool\\\\(', regex: true, path: 'examples', files: '*.mjs' });
  await tools.write_file({ path: 'report.md', text: matches.map((match) => '- ' + match.path + ':' + match.line + '\\n').join('') });
  await tools.replace_in_file({ path: 'report.md', old: '- ' + matches[0].path + ':' + matches[0].line + '\\n', new: '' });
  const { text } = await tools.read_file({ path: 'report.md', toLine: 2 });
  const escape = await tools.read_file({ path: 'examples/../../package.json' }).catch((error) => error.code);
  return { found: matches.length, text, escape };
`);
console.log(error?.message ?? value);
await codeMode.close();
