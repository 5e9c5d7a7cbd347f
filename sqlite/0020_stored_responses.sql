CREATE TABLE `gateway_responses` (
	`account` text NOT NULL,
	`id` text NOT NULL,
	`created` integer NOT NULL,
	`used` integer NOT NULL,
	`bytes` integer NOT NULL,
	`previous` text,
	`input` text NOT NULL,
	`response` text NOT NULL,
	PRIMARY KEY(`account`, `id`)
);
--> statement-breakpoint
CREATE INDEX `gateway_responses_account` ON `gateway_responses` (`account`,`used`,`id`,`bytes`);--> statement-breakpoint
CREATE INDEX `gateway_responses_used` ON `gateway_responses` (`used`);