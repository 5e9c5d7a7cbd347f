CREATE TABLE `use_counts` (
	`account` text NOT NULL,
	`model` text NOT NULL,
	`count` integer NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`account`, `model`)
);
--> statement-breakpoint
CREATE TABLE `uses` (
	`account` text NOT NULL,
	`number` integer NOT NULL,
	`model` text NOT NULL,
	`model_number` integer NOT NULL,
	`id` text NOT NULL,
	`request_id` text NOT NULL,
	`at` integer NOT NULL,
	`type` text NOT NULL,
	`source` text NOT NULL,
	`status` text NOT NULL,
	`upstream` text,
	`price` text,
	`input` integer NOT NULL,
	`cached` integer NOT NULL,
	`output` integer NOT NULL,
	`reasoning` integer NOT NULL,
	`estimated` integer NOT NULL,
	`charged` integer NOT NULL,
	`held` integer NOT NULL,
	`ms` integer NOT NULL,
	`first_byte_ms` integer,
	PRIMARY KEY(`account`, `number`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `uses_model` ON `uses` (`account`,`model`,`model_number`);--> statement-breakpoint
CREATE INDEX `uses_at` ON `uses` (`account`,`at`,`number`);--> statement-breakpoint
CREATE INDEX `uses_model_at` ON `uses` (`account`,`model`,`at`,`model_number`);