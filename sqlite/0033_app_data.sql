CREATE TABLE `app_documents` (
	`app` text NOT NULL,
	`collection` text NOT NULL,
	`id` text NOT NULL,
	`version` integer NOT NULL,
	`author` text NOT NULL,
	`editor` text NOT NULL,
	`own` integer NOT NULL,
	`data` text,
	`bytes` integer NOT NULL,
	`holder` text,
	`held_until` integer,
	`created` integer NOT NULL,
	`updated` integer NOT NULL,
	PRIMARY KEY(`app`, `collection`, `id`)
);
--> statement-breakpoint
CREATE INDEX `app_documents_changes` ON `app_documents` (`app`,`collection`,`version`);--> statement-breakpoint
CREATE INDEX `app_documents_versions` ON `app_documents` (`app`,`version`);--> statement-breakpoint
CREATE TABLE `app_players` (
	`app` text NOT NULL,
	`id` text NOT NULL,
	`person` text,
	`name` text,
	`joined` integer,
	`value_bytes` integer NOT NULL,
	`value_count` integer NOT NULL,
	`created` integer NOT NULL,
	PRIMARY KEY(`app`, `id`)
);
--> statement-breakpoint
CREATE INDEX `app_players_person` ON `app_players` (`person`);--> statement-breakpoint
CREATE TABLE `app_spaces` (
	`app` text PRIMARY KEY NOT NULL,
	`version` integer NOT NULL,
	`documents` integer NOT NULL,
	`document_bytes` integer NOT NULL,
	`value_bytes` integer NOT NULL,
	`value_count` integer NOT NULL,
	`forgotten` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `app_values` (
	`app` text NOT NULL,
	`owner` text NOT NULL,
	`key` text NOT NULL,
	`author` text NOT NULL,
	`value` text NOT NULL,
	`bytes` integer NOT NULL,
	`updated` integer NOT NULL,
	PRIMARY KEY(`app`, `owner`, `key`)
);
