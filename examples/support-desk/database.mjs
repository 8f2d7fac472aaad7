// The support desk's SQLite database: tables, seed data, opening and closing. A real file, by default one of its own in
// a temporary folder, so that every run starts from the same past. Not here: what may be asked of it (tools.mjs).
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sqlite from 'node-sqlite3-wasm';
import { seedData } from './seed.mjs';

/** @import { Database, BindValues } from 'node-sqlite3-wasm' */

/**
 * Opens a support desk.
 * @param {string} [file] Where to keep the database. It is created and filled when it is not there, and stays.
 *   Without it the desk lives in a temporary folder that `close()` removes.
 * @returns {{ database: Database, file: string, close(): void }}
 */
export function openDesk(file) {
  const folder = file === undefined ? mkdtempSync(join(tmpdir(), 'support-desk-')) : undefined;
  const path = file ?? join(/** @type {string} */ (folder), 'desk.sqlite');
  const isNew = !existsSync(path);
  const database = new sqlite.Database(path);
  const close = () => {
    if (database.isOpen) database.close();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  };
  try {
    // Nobody else opens a temporary desk, so its file need not be locked and unlocked for every query.
    if (folder !== undefined) database.exec('PRAGMA locking_mode = EXCLUSIVE');
    if (isNew) transaction(database, () => fill(database));
  } catch (error) {
    close();
    if (isNew) rmSync(path, { force: true });
    throw error;
  }
  return { database, file: path, close };
}

/**
 * All rows of a query. `Row` is what the caller knows of the columns it asks for.
 * @template Row
 * @param {Database} database
 * @param {string} sql
 * @param {BindValues} [values]
 * @returns {Row[]}
 */
export function all(database, sql, values) {
  return /** @type {Row[]} */ (/** @type {unknown} */ (database.all(sql, values)));
}

/**
 * The only row of a query, or `undefined`.
 * @template Row
 * @param {Database} database
 * @param {string} sql
 * @param {BindValues} [values]
 * @returns {Row | undefined}
 */
export function get(database, sql, values) {
  return /** @type {Row | null} */ (/** @type {unknown} */ (database.get(sql, values))) ?? undefined;
}

/**
 * Runs `work` so that all of it is written or nothing.
 * @template T
 * @param {Database} database
 * @param {() => T} work
 * @returns {T}
 */
export function transaction(database, work) {
  database.exec('BEGIN IMMEDIATE');
  try {
    const value = work();
    database.exec('COMMIT');
    return value;
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

const TABLES = `
  CREATE TABLE customers (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE, city TEXT NOT NULL, country TEXT NOT NULL,
    plan TEXT NOT NULL CHECK (plan IN ('standard', 'plus')), joinedOn TEXT NOT NULL
  );
  CREATE TABLE orders (
    id INTEGER PRIMARY KEY, customerId INTEGER NOT NULL REFERENCES customers (id), item TEXT NOT NULL, quantity INTEGER NOT NULL,
    totalCents INTEGER NOT NULL, status TEXT NOT NULL, placedOn TEXT NOT NULL, promisedOn TEXT NOT NULL, deliveredOn TEXT
  );
  CREATE INDEX ordersOfCustomer ON orders (customerId);
  CREATE TABLE refunds (
    id INTEGER PRIMARY KEY, orderId INTEGER NOT NULL REFERENCES orders (id), amountCents INTEGER NOT NULL CHECK (amountCents > 0),
    reason TEXT NOT NULL, agentId TEXT NOT NULL, issuedAt TEXT NOT NULL, idempotencyKey TEXT UNIQUE
  );
  CREATE INDEX refundsOfOrder ON refunds (orderId);
  CREATE TABLE notes (
    id INTEGER PRIMARY KEY, customerId INTEGER NOT NULL REFERENCES customers (id), text TEXT NOT NULL, agentId TEXT NOT NULL,
    writtenAt TEXT NOT NULL, idempotencyKey TEXT UNIQUE
  );
  CREATE TABLE articles (id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, tags TEXT NOT NULL);
`;

/** @param {Database} database */
function fill(database) {
  database.exec(TABLES);
  for (const [table, rows] of Object.entries(seedData())) insertAll(database, table, rows);
}

/**
 * Table and column names come from seed.mjs, never from a caller; values are always parameters.
 * @param {Database} database
 * @param {string} table
 * @param {readonly object[]} rows
 */
function insertAll(database, table, rows) {
  const columns = Object.keys(rows[0] ?? {});
  const statement = database.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`);
  try {
    for (const row of rows) statement.run(Object.values(row));
  } finally {
    statement.finalize();
  }
}
