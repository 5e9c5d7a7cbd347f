-- What drizzle-kit cannot say: the full-text index over listed apps, kept by triggers. Numbers are
-- given in the order in which apps come to Explore first, so that the newest matches are read
-- first. Facets let a search and a filter meet inside the index. Every word is searched for as a
-- beginning: one whose length is no prefix here costs as much as there are matches (3 ms for 100,000).
CREATE TABLE `app_numbers` (`number` integer PRIMARY KEY NOT NULL, `app` text NOT NULL UNIQUE);
--> statement-breakpoint
CREATE VIRTUAL TABLE `app_search` USING fts5(
  `words`, `facets`, content='', contentless_delete=1, detail=column, prefix='1 2 3 4 5 6 7 8',
  tokenize='unicode61 remove_diacritics 0'
);
--> statement-breakpoint
CREATE TRIGGER `app_search_made` AFTER INSERT ON `apps` WHEN new.listed = 'on' BEGIN
  INSERT OR IGNORE INTO app_numbers (app) VALUES (new.id);
  INSERT INTO app_search (rowid, words, facets)
    SELECT number, new.words, 'k' || new.kind || ' s' || new.shelf || ' r' || new.remix || ' m' || hex(new.maker)
    FROM app_numbers WHERE app = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER `app_search_changed` AFTER UPDATE OF listed, words, kind, shelf, remix ON `apps` BEGIN
  DELETE FROM app_search
    WHERE old.listed = 'on' AND rowid = (SELECT number FROM app_numbers WHERE app = old.id);
  INSERT OR IGNORE INTO app_numbers (app) SELECT new.id WHERE new.listed = 'on';
  INSERT INTO app_search (rowid, words, facets)
    SELECT number, new.words, 'k' || new.kind || ' s' || new.shelf || ' r' || new.remix || ' m' || hex(new.maker)
    FROM app_numbers WHERE app = new.id AND new.listed = 'on';
END;
--> statement-breakpoint
CREATE TRIGGER `app_search_gone` AFTER DELETE ON `apps` BEGIN
  DELETE FROM app_search
    WHERE old.listed = 'on' AND rowid = (SELECT number FROM app_numbers WHERE app = old.id);
  DELETE FROM app_numbers WHERE app = old.id;
END;
