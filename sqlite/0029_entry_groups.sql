DROP INDEX `entries_ref`;--> statement-breakpoint
ALTER TABLE `entries` ADD `commit_group` text;--> statement-breakpoint
CREATE INDEX `entries_group` ON `entries` (`commit_group`) WHERE "entries"."commit_group" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `entries_ref` ON `entries` (`ref`,`line`) WHERE "entries"."commit_group" is null;