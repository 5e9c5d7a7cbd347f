CREATE TABLE `gateway_batch_results` (
	`batch` text NOT NULL,
	`line` integer NOT NULL,
	`is_error` integer NOT NULL,
	`bytes` integer NOT NULL,
	`result` text NOT NULL,
	PRIMARY KEY(`batch`, `line`)
);
--> statement-breakpoint
CREATE TABLE `gateway_batches` (
	`id` text PRIMARY KEY NOT NULL,
	`account` text NOT NULL,
	`owner` text NOT NULL,
	`key` text NOT NULL,
	`endpoint` text NOT NULL,
	`input_file` text NOT NULL,
	`metadata` text,
	`status` text NOT NULL,
	`total` integer DEFAULT 0 NOT NULL,
	`completed` integer DEFAULT 0 NOT NULL,
	`failed` integer DEFAULT 0 NOT NULL,
	`errors` text,
	`output_file` text,
	`error_file` text,
	`created` integer NOT NULL,
	`started` integer,
	`cancelling` integer,
	`ended` integer,
	`expires` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `gateway_batches_account` ON `gateway_batches` (`account`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `gateway_batches_ended` ON `gateway_batches` (`ended`);