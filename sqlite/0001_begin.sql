CREATE TABLE `opens` (
	`app` text NOT NULL,
	`day` text NOT NULL,
	`visitor` text NOT NULL,
	PRIMARY KEY(`app`, `day`, `visitor`)
);
--> statement-breakpoint
CREATE INDEX `opens_day` ON `opens` (`day`);