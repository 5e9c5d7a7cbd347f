CREATE TABLE `libraries` (
	`name` text NOT NULL,
	`version` text NOT NULL,
	`license` text NOT NULL,
	`source` text NOT NULL,
	`added` integer NOT NULL,
	PRIMARY KEY(`name`, `version`)
);
--> statement-breakpoint
CREATE TABLE `library_files` (
	`name` text NOT NULL,
	`version` text NOT NULL,
	`path` text NOT NULL,
	`sha256` text NOT NULL,
	`bytes` integer NOT NULL,
	PRIMARY KEY(`name`, `version`, `path`)
);
--> statement-breakpoint
CREATE INDEX `library_files_sha256` ON `library_files` (`sha256`);--> statement-breakpoint
CREATE TABLE `library_uses` (
	`app` text NOT NULL,
	`version` integer NOT NULL,
	`library` text NOT NULL,
	`sha256` text NOT NULL,
	`type` text NOT NULL,
	PRIMARY KEY(`app`, `version`, `library`, `sha256`)
);
--> statement-breakpoint
CREATE INDEX `library_uses_library` ON `library_uses` (`library`,`app`);--> statement-breakpoint
CREATE INDEX `library_uses_sha256` ON `library_uses` (`sha256`);--> statement-breakpoint
ALTER TABLE `versions` ADD `libraries` text;