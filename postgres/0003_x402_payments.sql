CREATE TABLE "x402_payments" (
	"network" text NOT NULL,
	"payer" text NOT NULL,
	"nonce" text NOT NULL,
	"account" text NOT NULL,
	"amount" bigint NOT NULL,
	"state" text NOT NULL,
	"signed" text NOT NULL,
	"wallet" text,
	"wallet_nonce" bigint,
	"raw" text,
	"hash" text,
	"from_block" bigint NOT NULL,
	"block" bigint,
	"reason" text,
	"created" bigint NOT NULL,
	"credited" bigint,
	CONSTRAINT "x402_payments_network_payer_nonce_pk" PRIMARY KEY("network","payer","nonce"),
	CONSTRAINT "x402_payments_amount" CHECK ("x402_payments"."amount" > 0)
);
--> statement-breakpoint
CREATE UNIQUE INDEX "x402_payments_sending" ON "x402_payments" USING btree ("network","wallet") WHERE "x402_payments"."state" = 'sent' and "x402_payments"."wallet" is not null;--> statement-breakpoint
CREATE INDEX "x402_payments_open" ON "x402_payments" USING btree ("created") WHERE "x402_payments"."state" = 'received' or "x402_payments"."state" = 'sent' or "x402_payments"."state" = 'credited';--> statement-breakpoint
CREATE INDEX "x402_payments_created" ON "x402_payments" USING btree ("created");