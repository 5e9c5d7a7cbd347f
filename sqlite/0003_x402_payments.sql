CREATE TABLE `x402_payments` (
	`network` text NOT NULL,
	`payer` text NOT NULL,
	`nonce` text NOT NULL,
	`account` text NOT NULL,
	`amount` integer NOT NULL,
	`state` text NOT NULL,
	`signed` text NOT NULL,
	`wallet` text,
	`wallet_nonce` integer,
	`raw` text,
	`hash` text,
	`from_block` integer NOT NULL,
	`block` integer,
	`reason` text,
	`created` integer NOT NULL,
	`credited` integer,
	PRIMARY KEY(`network`, `payer`, `nonce`),
	CONSTRAINT "x402_payments_amount" CHECK("x402_payments"."amount" > 0)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `x402_payments_sending` ON `x402_payments` (`network`,`wallet`) WHERE "x402_payments"."state" = 'sent' and "x402_payments"."wallet" is not null;--> statement-breakpoint
CREATE INDEX `x402_payments_open` ON `x402_payments` (`created`) WHERE "x402_payments"."state" = 'received' or "x402_payments"."state" = 'sent' or "x402_payments"."state" = 'credited';--> statement-breakpoint
CREATE INDEX `x402_payments_created` ON `x402_payments` (`created`);