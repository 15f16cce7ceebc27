import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { filesOf, REPOSITORY } from './pages.ts';

/** Where these functions take the code of the error that they make. */
const CODE_ARGUMENTS: Readonly<Record<string, number>> = { invalidField: 2, filtersError: 1 };

/** The declarations that list codes as texts. */
const LISTS = ['DEFAULT_CODES', 'REASON_DESCRIPTIONS'];

/** Every error code and reason that the source names, found in its syntax. */
export function codesOfSource(): Set<string> {
  const codes = new Set<string>();
  const files = filesOf('src', '.ts').filter((path) => !path.endsWith('.test.ts'));
  for (const file of files) {
    const text = readFileSync(`${REPOSITORY}${file}`, 'utf8');
    collect(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true), codes);
  }
  return codes;
}

function collect(node: ts.Node, codes: Set<string>): void {
  if (ts.isCallExpression(node)) {
    const at = CODE_ARGUMENTS[node.expression.getText()];
    const argument = at === undefined ? undefined : node.arguments[at];
    if (argument !== undefined) collectTexts(argument, codes);
  } else if (ts.isPropertyAssignment(node) && node.name.getText() === 'code') {
    collectTexts(node.initializer, codes);
  } else if (ts.isVariableDeclaration(node) && LISTS.includes(node.name.getText())) {
    collectListed(node, codes);
  }
  ts.forEachChild(node, (child) => collect(child, codes));
}

/** `REASON_DESCRIPTIONS` has the codes as its names, `DEFAULT_CODES` as its values. */
function collectListed(node: ts.VariableDeclaration, codes: Set<string>): void {
  if (node.initializer === undefined || !ts.isObjectLiteralExpression(node.initializer)) return;
  for (const property of node.initializer.properties) {
    if (!ts.isPropertyAssignment(property)) continue;
    if (node.name.getText() === 'DEFAULT_CODES') collectTexts(property.initializer, codes);
    else codes.add(property.name.getText());
  }
}

function collectTexts(node: ts.Expression, codes: Set<string>): void {
  if (ts.isStringLiteral(node)) codes.add(node.text);
  if (ts.isConditionalExpression(node)) {
    collectTexts(node.whenTrue, codes);
    collectTexts(node.whenFalse, codes);
  }
}

/** Every `code` of the examples in a document, wherever it stands. */
export function codesOfExamples(value: unknown): Set<string> {
  const codes = new Set<string>();
  const visit = (part: unknown) => {
    if (typeof part !== 'object' || part === null) return;
    for (const [name, child] of Object.entries(part)) {
      if (name === 'code' && typeof child === 'string') codes.add(child);
      else visit(child);
    }
  };
  visit(value);
  return codes;
}
