CREATE TABLE "response_items" (
	"account" text NOT NULL,
	"id" text NOT NULL,
	"item" text NOT NULL,
	"at" bigint NOT NULL,
	CONSTRAINT "response_items_account_id_pk" PRIMARY KEY("account","id")
);
--> statement-breakpoint
CREATE INDEX "response_items_at" ON "response_items" USING btree ("at");