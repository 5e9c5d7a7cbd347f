CREATE TABLE `follows` (
	`person` text NOT NULL,
	`maker` text NOT NULL,
	`created` integer NOT NULL,
	`seen` integer NOT NULL,
	PRIMARY KEY(`person`, `maker`)
);
--> statement-breakpoint
CREATE INDEX `follows_maker` ON `follows` (`maker`);