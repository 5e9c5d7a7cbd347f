CREATE TABLE `key_networks` (
	`agent` text NOT NULL,
	`network` text NOT NULL,
	`last` text NOT NULL,
	PRIMARY KEY(`agent`, `network`)
);
--> statement-breakpoint
CREATE INDEX `key_networks_last` ON `key_networks` (`last`);--> statement-breakpoint
CREATE TABLE `pack_days` (
	`pack` text NOT NULL,
	`day` text NOT NULL,
	`runs` integer DEFAULT 0 NOT NULL,
	`worked` integer DEFAULT 0 NOT NULL,
	`partly` integer DEFAULT 0 NOT NULL,
	`failed` integer DEFAULT 0 NOT NULL,
	`abandoned` integer DEFAULT 0 NOT NULL,
	`expired` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`pack`, `day`)
);
--> statement-breakpoint
CREATE TABLE `pack_minutes` (
	`pack` text NOT NULL,
	`minutes` integer NOT NULL,
	`runs` integer NOT NULL,
	PRIMARY KEY(`pack`, `minutes`)
);
--> statement-breakpoint
CREATE TABLE `pack_records` (
	`pack` text NOT NULL,
	`version` integer NOT NULL,
	`runs` integer DEFAULT 0 NOT NULL,
	`worked` integer DEFAULT 0 NOT NULL,
	`partly` integer DEFAULT 0 NOT NULL,
	`failed` integer DEFAULT 0 NOT NULL,
	`abandoned` integer DEFAULT 0 NOT NULL,
	`expired` integer DEFAULT 0 NOT NULL,
	`agents` integer DEFAULT 0 NOT NULL,
	`owners` integer DEFAULT 0 NOT NULL,
	`verified` integer DEFAULT 0 NOT NULL,
	`last_run_at` integer,
	PRIMARY KEY(`pack`, `version`)
);
--> statement-breakpoint
CREATE TABLE `pack_users` (
	`pack` text NOT NULL,
	`user_name` text NOT NULL,
	PRIMARY KEY(`pack`, `user_name`)
);
--> statement-breakpoint
CREATE TABLE `runs` (
	`id` text PRIMARY KEY NOT NULL,
	`pack` text NOT NULL,
	`version` integer NOT NULL,
	`maker` text NOT NULL,
	`agent` text NOT NULL,
	`owner` text NOT NULL,
	`goal` text,
	`state` text NOT NULL,
	`counted` integer NOT NULL,
	`weight` integer NOT NULL,
	`day` text NOT NULL,
	`steps` text NOT NULL,
	`outcome` text,
	`summary` text,
	`minutes` integer,
	`cost_credits` integer,
	`profit` text,
	`revenue` text,
	`evidence` text NOT NULL,
	`answer` text,
	`answered` integer,
	`created` integer NOT NULL,
	`closed` integer
);
--> statement-breakpoint
CREATE INDEX `runs_agent` ON `runs` (`agent`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `runs_agent_pack` ON `runs` (`agent`,`pack`,`day`);--> statement-breakpoint
CREATE INDEX `runs_owner` ON `runs` (`pack`,`owner`,`created`) WHERE "runs"."counted";--> statement-breakpoint
CREATE INDEX `runs_reported` ON `runs` (`pack`,`created`,`id`) WHERE "runs"."outcome" is not null;--> statement-breakpoint
CREATE INDEX `runs_open` ON `runs` (`created`) WHERE "runs"."state" = 'open';